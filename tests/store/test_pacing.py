"""Slots for sends: never more in any window than allowed, whoever asks."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.pacing import SendPacing

_people = count(1)
LONG_SECONDS = 10_000.0


@pytest.fixture
def person() -> str:
    """A member whom no other test knows."""
    return f"person-{next(_people)}"


@pytest.fixture
def pacing(redis_client: RedisClient) -> SendPacing:
    """The slots of one process."""
    return SendPacing(redis_client)


def moments(redis_client: RedisClient, person: str) -> list[int]:
    """The reserved moments of a person, in ms."""
    return [int(str(each)) for each in redis_client.lrange(redis_keys.person_slots("corp:1", person), 0, -1)]


def test_in_no_minute_and_no_hour_more_is_reserved_than_allowed(
    redis_client: RedisClient, pacing: SendPacing, person: str
) -> None:
    for _ in range(70):
        pacing.reserve_for_person("corp:1", person, 5, 40, LONG_SECONDS)
    kept = moments(redis_client, person)
    assert kept == sorted(kept)
    assert len(kept) == 40, "older ones count no more and are not kept"
    assert all(later - earlier >= 60_000 for earlier, later in zip(kept, kept[5:], strict=False))


def test_a_window_slides(pacing: SendPacing, person: str) -> None:
    waits = [pacing.reserve_for_person("corp:1", person, 3, 7, LONG_SECONDS).wait_seconds for _ in range(8)]
    assert [round(wait) for wait in waits] == [0, 0, 0, 60, 60, 60, 120, 3_600]


def test_twenty_threads_get_what_is_allowed_and_no_more(pacing: SendPacing, person: str) -> None:
    with ThreadPoolExecutor(20) as threads:
        asked = [threads.submit(pacing.reserve_for_person, "corp:1", person, 25, 900, 5.0) for _ in range(60)]
    waits = [each.result().wait_seconds for each in asked]
    assert sum(wait <= 5 for wait in waits) == 25


def test_what_nobody_waits_for_is_not_reserved(redis_client: RedisClient, pacing: SendPacing, person: str) -> None:
    for _ in range(4):
        pacing.reserve_for_person("corp:1", person, 2, 900, 5.0)
    assert len(moments(redis_client, person)) == 2


def test_what_stands_in_redis_about_a_person_goes_after_an_hour(
    redis_client: RedisClient, pacing: SendPacing, person: str
) -> None:
    pacing.reserve_for_person("corp:1", person, 2, 900, 5.0)
    ttl = redis_client.pttl(redis_keys.person_slots("corp:1", person))
    assert 3_590_000 < int(str(ttl)) <= 3_600_000


def test_many_who_wait_for_one_account_all_get_their_turn(pacing: SendPacing, person: str) -> None:
    """A slot beyond the longest wait is not reserved: else each who comes back would push all others further away."""
    waits = [pacing.reserve(person, 0.1, 0.35).wait_seconds for _ in range(10)]
    assert sum(wait <= 0.35 for wait in waits) == 4
    assert all(wait < 0.5 for wait in waits)
    time.sleep(max(waits))
    assert pacing.reserve(person, 0.1, 0.35).wait_seconds <= 0.1
