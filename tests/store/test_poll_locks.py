"""Poll locks, doorbell markers and failure counters, in a real Redis."""

from __future__ import annotations

import pytest

from tests.support.together import together
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.poll_locks import MARKER_SECONDS, PollLocks

LIFETIME_SECONDS = 150.0
WINDOW_SECONDS = 300


@pytest.fixture
def locks(redis_client: RedisClient) -> PollLocks:
    """The store under test."""
    return PollLocks(redis_client, LIFETIME_SECONDS)


def left_seconds(redis_client: RedisClient, key: str) -> float:
    """How long a key still lives."""
    return float(str(redis_client.pttl(key))) / 1000


def holder(redis_client: RedisClient, share_id: str) -> object:
    """Who holds a poll lock."""
    return redis_client.get(redis_keys.poll_lock(share_id))


# the lock


def test_a_lock_is_taken_once_and_lives_for_its_lifetime(
    locks: PollLocks, redis_client: RedisClient, share_id: str
) -> None:
    assert locks.take(share_id, "me", 7)
    assert not locks.take(share_id, "me", 7)
    assert not locks.take(share_id, "another", 8)
    assert holder(redis_client, share_id) == "me|7"
    assert LIFETIME_SECONDS - 5 < left_seconds(redis_client, redis_keys.poll_lock(share_id)) <= LIFETIME_SECONDS


def test_twenty_workers_want_a_lock_and_one_gets_it(locks: PollLocks, share_id: str) -> None:
    assert sum(together(20, lambda number: locks.take(share_id, f"worker-{number}", 1))) == 1


def test_the_marker_of_the_doorbell_that_led_to_the_lock_is_the_takers_for_a_while(
    locks: PollLocks, redis_client: RedisClient, share_id: str
) -> None:
    locks.announce(share_id, "ringer", 60)
    locks.take(share_id, "taker", 1)
    assert locks.announced([share_id]) == ["taker"]
    assert left_seconds(redis_client, redis_keys.poll_next(share_id)) <= MARKER_SECONDS


def test_a_refused_doorbell_leaves_the_marker_of_the_next_one(locks: PollLocks, share_id: str) -> None:
    locks.take(share_id, "me", 1)
    locks.announce(share_id, "me", 8)
    assert not locks.take(share_id, "another", 2)
    assert locks.announced([share_id]) == ["me"]


def test_the_holder_keeps_the_lock_and_learns_who_waits(
    locks: PollLocks, redis_client: RedisClient, share_id: str
) -> None:
    locks.take(share_id, "me", 7)
    redis_client.pexpire(redis_keys.poll_lock(share_id), 3_000)
    assert locks.keep(share_id, "me", 7) == 0
    assert left_seconds(redis_client, redis_keys.poll_lock(share_id)) > LIFETIME_SECONDS - 5
    redis_client.rpush(redis_keys.queue("poll"), "one", "two")
    assert locks.keep(share_id, "me", 7) == 2
    redis_client.delete(redis_keys.queue("poll"))


@pytest.mark.parametrize(("owner", "generation"), [("me", 8), ("me", 70), ("another", 7), ("m", 7)])
def test_nobody_else_keeps_or_releases_it(
    locks: PollLocks, redis_client: RedisClient, share_id: str, owner: str, generation: int
) -> None:
    locks.take(share_id, "me", 7)
    redis_client.pexpire(redis_keys.poll_lock(share_id), 3_000)
    assert locks.keep(share_id, owner, generation) is None
    assert not locks.release(share_id, owner, generation)
    assert holder(redis_client, share_id) == "me|7"
    assert left_seconds(redis_client, redis_keys.poll_lock(share_id)) <= 3


def test_an_old_link_of_the_same_process_does_not_release_a_newer_one(
    locks: PollLocks, redis_client: RedisClient, share_id: str
) -> None:
    locks.take(share_id, "me", 12)
    assert not locks.release(share_id, "me", 1)
    assert holder(redis_client, share_id) == "me|12"


def test_a_released_lock_is_free_for_the_next_link(locks: PollLocks, share_id: str) -> None:
    locks.take(share_id, "me", 7)
    assert locks.release(share_id, "me", 7)
    assert not locks.release(share_id, "me", 7)
    assert locks.take(share_id, "another", 8)


def test_a_revoked_lock_ends_the_slice(locks: PollLocks, share_id: str) -> None:
    locks.take(share_id, "me", 7)
    locks.revoke(share_id)
    assert locks.keep(share_id, "me", 7) is None
    assert locks.take(share_id, "another", 8)
    assert not locks.release(share_id, "me", 7)


def test_the_lock_of_a_dead_owner_goes_whatever_its_generation_and_nobody_elses(
    locks: PollLocks, redis_client: RedisClient, share_id: str
) -> None:
    other = f"{share_id}-2"
    locks.take(share_id, "host:7:abcd", 12)
    locks.take(other, "living", 3)
    redis_client.script_flush()
    assert locks.release_dead({share_id: "host:7:abc", other: "another"}) == 0
    assert holder(redis_client, share_id) == "host:7:abcd|12"
    assert locks.release_dead({share_id: "host:7:abcd", other: "host:7:abcd"}) == 1
    assert holder(redis_client, share_id) is None
    assert holder(redis_client, other) == "living|3"
    assert locks.release_dead({}) == 0


def test_scripts_survive_a_restart_of_redis(locks: PollLocks, redis_client: RedisClient, share_id: str) -> None:
    locks.take(share_id, "me", 1)
    redis_client.script_flush()
    assert locks.keep(share_id, "me", 1) == 0
    assert locks.release(share_id, "me", 1)


# markers


def test_markers_tell_who_rang_and_go_by_themselves(locks: PollLocks, redis_client: RedisClient, share_id: str) -> None:
    locks.announce(f"{share_id}-a", "me", 2.5)
    locks.announce(f"{share_id}-b", "another", 0)
    assert locks.announced([]) == []
    assert locks.announced([f"{share_id}-a", f"{share_id}-c"]) == ["me", None]
    assert 1.5 < left_seconds(redis_client, redis_keys.poll_next(f"{share_id}-a")) - MARKER_SECONDS <= 2.5
    assert 0 < left_seconds(redis_client, redis_keys.poll_next(f"{share_id}-b")) <= MARKER_SECONDS


def test_many_are_marked_at_once_but_for_those_that_somebody_living_has_marked(
    locks: PollLocks, redis_client: RedisClient, share_id: str
) -> None:
    free, living, dead = (f"{share_id}-{name}" for name in ("free", "living", "dead"))
    locks.announce(living, "a living one", 0)
    locks.announce(dead, "a dead one", 0)
    assert locks.announce_all("me", {free: 0.0, living: 0.0, dead: 30.0}, {"a dead one"}) == [free, dead]
    assert locks.announced([free, living, dead]) == ["me", "a living one", "me"]
    assert left_seconds(redis_client, redis_keys.poll_next(dead)) > MARKER_SECONDS + 20


# failures


def test_failures_are_counted_in_a_window_fixed_from_the_first_one(
    locks: PollLocks, redis_client: RedisClient, share_id: str
) -> None:
    key = redis_keys.poll_failures(share_id)
    assert locks.count_failure(share_id, WINDOW_SECONDS) == 1
    assert WINDOW_SECONDS - 5 < left_seconds(redis_client, key) <= WINDOW_SECONDS
    redis_client.pexpire(key, 40_000)
    assert [locks.count_failure(share_id, WINDOW_SECONDS) for _ in range(4)] == [2, 3, 4, 5]
    assert left_seconds(redis_client, key) <= 40  # a later failure never lengthens the window


def test_after_the_window_the_count_starts_anew(locks: PollLocks, redis_client: RedisClient, share_id: str) -> None:
    for _ in range(4):
        locks.count_failure(share_id, WINDOW_SECONDS)
    redis_client.delete(redis_keys.poll_failures(share_id))  # what its expiry does
    assert locks.count_failure(share_id, WINDOW_SECONDS) == 1


def test_a_success_leaves_a_zero_and_the_next_failure_opens_a_new_window(
    locks: PollLocks, redis_client: RedisClient, share_id: str
) -> None:
    key = redis_keys.poll_failures(share_id)
    for _ in range(4):
        locks.count_failure(share_id, WINDOW_SECONDS)
    locks.clear_failures(share_id, WINDOW_SECONDS)
    assert redis_client.get(key) == "0"
    assert 0 < left_seconds(redis_client, key) <= WINDOW_SECONDS
    redis_client.pexpire(key, 3_000)
    assert locks.count_failure(share_id, WINDOW_SECONDS) == 1
    assert left_seconds(redis_client, key) > WINDOW_SECONDS - 5


def test_twenty_failures_at_once_are_twenty(locks: PollLocks, share_id: str) -> None:
    counts = together(20, lambda _: locks.count_failure(share_id, WINDOW_SECONDS))
    assert sorted(counts) == list(range(1, 21))


def test_no_key_is_left_without_a_lifetime(locks: PollLocks, redis_client: RedisClient, share_id: str) -> None:
    locks.take(share_id, "me", 1)
    locks.announce(share_id, "me", 8)
    locks.count_failure(share_id, WINDOW_SECONDS)
    locks.clear_failures(f"{share_id}-b", WINDOW_SECONDS)
    found = [str(key) for key in redis_client.scan_iter(f"*{share_id}*")]
    assert len(found) == 4
    assert all(left_seconds(redis_client, key) > 0 for key in found)
