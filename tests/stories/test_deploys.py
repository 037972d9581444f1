"""Workers are stopped and killed all the time, and nobody notices (reports 49 and 50)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, cycle

import pytest

from tests.support.system import System, wait_until
from wechat_bridge.local.child import Child

pytestmark = [pytest.mark.story, pytest.mark.slow]

MESSAGES = 100
CHANNELS = 10
SECONDS = 45.0
EVERY_SECONDS = 4.0
KINDS = ("reply", "poll", "reply", "ops")
KILL_EVERY = 3
THINKING = "2"
"""Seconds. Some answers are always being thought about when a worker is told to stop."""


class Fleet:
    """One worker of each kind that counts, replaced again and again as by a deploy."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.leaving: list[Child] = []
        self.killed = 0
        self._current = {"poll": "poll", "reply": "reply", "ops": "ops"}
        self._numbers = count(2)

    def replace(self, kind: str, *, kill: bool) -> None:
        """Start another worker and end this one: it is killed, or told to stop and left to it."""
        old, new = self._current[kind], f"{kind}{next(self._numbers)}"
        self.system.start(kind, new)
        self._current[kind] = new
        leaving = self.system.processes.pop(old)
        if kill:
            leaving.kill()
            self.killed += 1
        else:
            leaving.terminate()
            self.leaving.append(leaving)

    def end(self) -> None:
        """Kill whoever has not ended."""
        for child in self.leaving:
            child.kill()


@pytest.fixture
def fleet(make_system: Callable[..., System]) -> Iterator[Fleet]:
    """A system with one worker of each kind."""
    quick = {"WECHAT_BRIDGE_POLL__EMPTY_POLL_DELAY_SECONDS": "2"}
    with make_system(**quick) as system:
        system.start_all()
        found = Fleet(system)
        yield found
        found.end()


@pytest.mark.long
def test_a_hundred_messages_while_a_worker_goes_every_four_seconds(fleet: Fleet) -> None:
    system = fleet.system
    worlds = system.channels(CHANNELS, engine="slow")
    system.wait_polling(worlds)
    began, kinds = time.monotonic(), cycle(KINDS)
    due = [began + EVERY_SECONDS * (number + 1) for number in range(int(SECONDS / EVERY_SECONDS))]
    said: dict[str, list[str]] = {world.user(): [] for world in worlds}
    for number in range(MESSAGES):
        while due and due[0] < time.monotonic():
            due.pop(0)
            fleet.replace(next(kinds), kill=len(due) % KILL_EVERY == 0)
        world = worlds[number % CHANNELS]
        said[world.user()].append(f"message {number}")
        system.control.say(world.bot_id, world.user(), f"{THINKING} message {number}")
        _let_pass(began + SECONDS * (number + 1) / MESSAGES - time.monotonic())
    wait_until(
        lambda: all(_heard(system, user, texts) for user, texts in said.items()), 30, "everybody is answered"
    )  # fmt: skip
    answers = Counter(text for user in said for text in _answers(system, user))
    assert answers == Counter(text for texts in said.values() for text in texts)
    assert fleet.killed >= 3
    assert len(fleet.leaving) >= 6
    wait_until(lambda: not any(child.alive for child in fleet.leaving), 30, "who was told to stop ends")


def _answers(system: System, user: str) -> list[str]:
    """The answers a user heard; those to messages that waited together begin each line with the thinking time."""
    texts = "\n".join(row["text"] for row in system.control.deliveries(user)).split("\n")
    return [text.removeprefix(f"{THINKING} ") for text in texts]


def _heard(system: System, user: str, texts: list[str]) -> bool:
    return len(_answers(system, user)) >= len(texts)


def _let_pass(seconds: float) -> None:
    """Messages come evenly."""
    time.sleep(max(0.0, seconds))
