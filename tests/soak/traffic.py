"""The users: they write at an even pace, each message with a text of its own."""

from __future__ import annotations

import random
import threading
import time

from tests.soak.plan import Plan
from tests.soak.record import Record, Said
from tests.soak.stage import Stage
from tests.support.world import World

APART_MS = 10
"""Between two messages that arrive in the wrong order."""


class Traffic(threading.Thread):
    """Writes the messages of a plan."""

    def __init__(self, plan: Plan, stage: Stage, record: Record, began: float) -> None:
        super().__init__(name="traffic", daemon=True)
        self.plan = plan
        self.stage = stage
        self.record = record
        self.began = began
        self.over = threading.Event()
        self.rng = random.Random(f"{plan.seed}-traffic")
        self.control = stage.control()

    def run(self) -> None:
        """Write message after message; two at once where they are to arrive in the wrong order."""
        step = self.plan.seconds / self.plan.messages
        while len(self.record.said) < self.plan.messages:
            if self.over.wait(max(0.0, self.began + len(self.record.said) * step - time.monotonic())):
                return
            user = self.rng.randrange(self.plan.users)
            if self.record.reorders.acquire(blocking=False):
                self.write_reversed(user)
            else:
                self.write(user)

    def write(self, user: int) -> None:
        """Let a user write one message."""
        world, name = self._place(user)
        text = self._text(user, 0)
        ids = self.control.say(world.bot_id, name, text)
        self.record.say(Said(text, ids[0], world.share_id, world.bot_id, name))

    def write_reversed(self, user: int) -> None:
        """Let a user write two messages that arrive in one batch, the later one first."""
        world, name = self._place(user)
        texts = [self._text(user, 0), self._text(user, 1)]
        now_ms = int(time.time() * 1000)
        later, earlier = (
            {"from_user_id": name, "text": texts[number], "create_time_ms": now_ms + number * APART_MS}
            for number in (1, 0)
        )
        time.sleep(2 * APART_MS / 1000)  # nothing is received before it was said
        ids = self.control.write(world.bot_id, [later, earlier])
        said = [Said(text, i, world.share_id, world.bot_id, name) for text, i in zip(texts, reversed(ids), strict=True)]
        self.record.say(*said)

    def number_of(self, user_id: str) -> int:
        """Return the number of a user."""
        return int(user_id.removeprefix("u").partition("-")[0])

    def _place(self, user: int) -> tuple[World, str]:
        world = self.stage.worlds[user % len(self.stage.worlds)]
        return world, world.user(f"u{user}")

    def _text(self, user: int, offset: int) -> str:
        return f"{len(self.record.said) + offset:06d} of user {user:03d}"
