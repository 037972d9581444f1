"""Settings change while messages flow: every process has them within 2 s (acceptance G5 to G7)."""

from __future__ import annotations

import time

import pytest

from tests.support.system import System, wait_until
from wechat_bridge.flow.configuration.uptake import uptake_of

pytestmark = pytest.mark.story


PROCESSES = 5
"""One of each kind, and the test's own."""


@pytest.fixture(scope="module")
def polls_per_task() -> int:
    """What a version does has nothing to do with how many polls a task serves."""
    return 8


def take_up(system: System, place: str, value: object) -> float:
    """Publish a change; return after how many seconds it is in force in every process."""
    wired = system.wired
    number = wired.configuration.set(place, value, "ann").number
    began = time.monotonic()

    def is_everywhere() -> bool:
        uptake = uptake_of(wired.bridge, number)
        return uptake.count >= PROCESSES and not uptake.behind

    wait_until(is_everywhere, 10, "the version is in force in every process")
    return time.monotonic() - began


def test_g5_a_change_is_in_force_in_every_process_within_two_seconds(system: System) -> None:
    seconds = [take_up(system, "settings.debounce.idle_seconds", number) for number in (0.2, 0.3, 0.5)]
    assert max(seconds) < 2, seconds


def test_g5_messages_are_answered_while_settings_change_and_the_next_one_is_cut_anew(system: System) -> None:
    world = system.channel()
    system.control.say(world.bot_id, world.user(), "x" * 40)
    system.assert_heard([world], ["x" * 40], 20)
    take_up(system, "settings.reply.chunk_characters", 16)
    system.control.say(world.bot_id, world.user(), "y" * 32)
    wait_until(lambda: "".join(world.delivered()[1:]) == "y" * 32, 20, "the answer is delivered")
    assert [len(text) for text in world.delivered()] == [40, 16, 16]
    system.wired.configuration.unset("settings.reply.chunk_characters", "ann")


def test_g6_a_version_that_a_process_cannot_use_stops_nobody(system: System) -> None:
    world, wired = system.channel(), system.wired
    number = wired.configuration.set("settings.debounce.idle_seconds", 0.4, "ann").number
    wait_until(lambda: not uptake_of(wired.bridge, number).behind, 10, "the version is in force")
    versions = wired.bridge.channels.collection.database["settings"]
    versions.insert_one({"_id": f"configuration:{number + 1}", "number": number + 1, "format": 99})
    system.control.say(world.bot_id, world.user(), "hello")
    system.assert_heard([world], ["hello"], 20)
    system.kill("reply")
    system.start("reply")
    system.control.say(world.bot_id, world.user(), "again")
    system.assert_heard([world], ["hello", "again"], 40)
    assert "configuration_unreadable" in (system.directory / "reply.log").read_text()
    assert wired.configuration.roll_back(number, "ann").number == number + 2
    wait_until(lambda: not uptake_of(wired.bridge, number + 2).behind, 10, "the good one is in force")
