"""Poll chains: they end only when they should, they never multiply, and they come back (acceptance K)."""

from __future__ import annotations

import time

import pytest
import redis

from tests.support.system import System, wait_until
from tests.support.world import World

pytestmark = pytest.mark.story


@pytest.mark.slow
def test_chains_of_a_killed_worker_are_back_within_twelve_seconds(system: System) -> None:
    system.start("poll", "poll2", threads=150)
    system.wait_alive(5)
    worlds = system.channels(100)
    system.wait_polling(worlds)
    system.wait_steady()
    killed_at = time.time()
    system.kill("poll2")
    for number, world in enumerate(worlds):
        system.control.say(world.bot_id, world.user(), f"during {number}")
    wait_until(lambda: all(system.polls_since(world, killed_at) for world in worlds), 12, "all chains are back")
    wait_until(lambda: all(system.heard(world) for world in worlds), 15, "everybody is answered")
    assert [system.heard(world) for world in worlds] == [[f"during {number}"] for number in range(100)]
    assert _overlaps_of_living(system, worlds, killed_at) == 0


@pytest.mark.slow
def test_a_flush_of_redis_makes_no_second_poll_and_answers_nothing_twice(system: System) -> None:
    worlds = system.channels(100)
    system.wait_polling(worlds)
    for number, world in enumerate(worlds):
        system.control.say(world.bot_id, world.user(), f"before {number}")
    flushed_at = time.time()
    with redis.Redis.from_url(system.environment["REDIS_URL"]) as client:
        client.flushdb()
    for number, world in enumerate(worlds):
        system.control.say(world.bot_id, world.user(), f"after {number}")
    wait_until(lambda: all(len(system.heard(world)) >= 2 for world in worlds), 40, "everybody is answered")
    wait_until(lambda: all(system.polls_since(world, flushed_at) for world in worlds), 15, "all chains go on")
    assert [system.heard(world) for world in worlds] == [[f"before {n}", f"after {n}"] for n in range(100)]
    assert system.overlaps(worlds) == 0


def _overlaps_of_living(system: System, worlds: list[World], killed_at: float) -> int:
    """Overlaps of two polls that both began after the kill, or both before: the dead one's open poll is not living."""
    rows = [row for world in worlds for row in system.control.stats(world.bot_id)["overlaps"]]
    return len([row for row in rows if row["first"]["started_at"] > killed_at or row["at"] < killed_at])
