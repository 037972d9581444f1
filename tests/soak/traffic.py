"""The users: they write at an even pace, each message with a text of its own."""

from __future__ import annotations

import random
import re
import threading
import time

from tests.soak.plan import Plan
from tests.soak.record import WISHES, Record
from tests.soak.stage import Stage
from tests.soak.voices import Voices
from tests.support.customer_world import CustomerWorld
from tests.support.wecom_world import WecomWorld
from tests.support.world import World

NUMBER = re.compile(r"\bu([0-9]+)-")
REORDERED = "callbacks reordered"


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
        self.voices = Voices(stage.control(), stage.wecom_control())
        self._members = [user for user in range(plan.users) if self._is_member(user)]

    def run(self) -> None:
        """Write message after message; two at once where they are to arrive in the wrong order."""
        step = self.plan.seconds / self.plan.messages
        while len(self.record.said) < self.plan.messages:
            if self.over.wait(max(0.0, self.began + len(self.record.said) * step - time.monotonic())):
                return
            wish = self._wish()
            if wish is not None:
                self.write(self.rng.choice(self._members), wish)
                continue
            user = self.rng.randrange(self.plan.users)
            if not self._is_called(user) and self.record.reorders.acquire(blocking=False):
                self.write_reversed(user)
            else:
                self.write(user)

    def write(self, user: int, wish: str = "plain") -> None:
        """Let a user write one message, in the way that a lane has wished for; two, if they are to be reordered."""
        if wish == REORDERED:
            self.write_reversed(user)
            return
        world, name = self._place(user)
        self.record.say(self.voices.say(world, name, self._text(user, 0), wish))

    def write_reversed(self, user: int) -> None:
        """Let a user write two messages, of which the later one arrives first."""
        world, name = self._place(user)
        self.record.say(*self.voices.say_reversed(world, name, (self._text(user, 0), self._text(user, 1))))

    def number_of(self, user_id: str) -> int:
        """Return the number of a user."""
        found = NUMBER.search(user_id)
        assert found is not None, user_id
        return int(found[1])

    def _wish(self) -> str | None:
        wishes = [wish for wish in WISHES if self._members and self.record.wishes[wish].acquire(blocking=False)]
        for wish in wishes[1:]:
            self.record.wishes[wish].release()
        return wishes[0] if wishes else None

    def _is_called(self, user: int) -> bool:
        return isinstance(self._place(user)[0], WecomWorld)

    def _is_member(self, user: int) -> bool:
        return self._is_called(user) and not isinstance(self._place(user)[0], CustomerWorld)

    def _place(self, user: int) -> tuple[World, str]:
        return self.stage.worlds[user % len(self.stage.worlds)], f"u{user}"

    def _text(self, user: int, offset: int) -> str:
        return f"{len(self.record.said) + offset:06d} of user {user:03d}"
