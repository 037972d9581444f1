"""More channels than threads, and workers that come and go (acceptance K9, K12)."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import redis

from tests.support.system import System, wait_until
from wechat_bridge.store import redis_keys

pytestmark = [pytest.mark.story, pytest.mark.slow]

POLL_QUEUE = redis_keys.queue("poll")


@pytest.fixture(scope="module")
def small(make_system: Callable[..., System]) -> Iterator[System]:
    """A system whose poll worker has ten threads."""
    with make_system() as running:
        yield running


def test_a_cold_start_polls_a_hundred_channels_within_ten_seconds_but_not_in_one_instant(small: System) -> None:
    worlds = small.channels(100)
    started_at = time.time()
    small.start_all(poll_threads=150)
    ready_at = time.time()
    small.wait_polling(worlds, 10)
    starts = [small.polls_since(world, started_at)[0]["started_at"] for world in worlds]
    assert max(starts) - ready_at < 10
    assert max(Counter(int(start * 4) for start in starts).values()) < 60, "spread over more than a quarter second"
    small.stop("poll", 20)


def test_thirty_channels_on_ten_threads_are_all_polled_in_turn(small: System) -> None:
    worlds = small.channels(30)
    small.start("poll", "tight", threads=10)
    since = time.time()
    doubled = 0
    with redis.Redis.from_url(small.environment["REDIS_URL"], decode_responses=True) as client:
        while time.time() - since < 25:
            doubled = max(doubled, _doubled(client))
            time.sleep(0.1)
    rounds = [len(small.polls_since(world, since)) for world in worlds]
    assert min(rounds) >= 1, rounds
    assert max(rounds) <= 4 * min(rounds), rounds
    assert doubled == 0, "the queue never holds two doorbells of one channel"
    assert small.overlaps(worlds) == 0


def test_a_second_worker_carries_a_share_and_leaves_without_loss(small: System) -> None:
    """Goes on with the ten threads of the story before."""
    worlds = small.channels(10)
    small.start("poll", "second", threads=20)
    wait_until(lambda: _owners(small) >= 2, 60, "both workers own links")
    for world in worlds:
        small.control.say(world.bot_id, world.user(), "one")
    took = small.stop("second", 30)
    for world in worlds:
        small.control.say(world.bot_id, world.user(), "two")
    wait_until(lambda: all(len(small.heard(world)) >= 2 for world in worlds), 60, "everybody is answered")
    assert [small.heard(world) for world in worlds] == [["one", "two"]] * 10
    assert took < 15
    assert small.overlaps(worlds) == 0


def _doubled(client: redis.Redis) -> int:
    """How many channels have two doorbells in the poll queue."""
    waiting = Counter(
        json.loads(message)["headers"]["id"].split(":")[1] for message in client.lrange(POLL_QUEUE, 0, -1)
    )
    return len([share_id for share_id, count in waiting.items() if count > 1])


def _owners(system: System) -> int:
    return len({channel.poll_owner for channel in system.wired.bridge.channels.all() if channel.poll_owner})
