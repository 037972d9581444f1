"""Claims of events, in a real Redis."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

import pytest

from tests.store.event_worker import Job
from tests.store.event_worker import claim as claim_in_a_process
from tests.support.together import together
from wechat_bridge.store import broker, redis_keys
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.event_claims import Claimed, ClaimState, EventClaims, Stored

WITHIN = 5.0
CLAIM_SECONDS = 30.0
NEW, IN_FLIGHT = Claimed(ClaimState.NEW), Claimed(ClaimState.IN_FLIGHT)
SEVEN_DAYS_MS, FIVE_MINUTES_MS, A_DAY_MS = 604_800_000, 300_000, 86_400_000


class CountedClaims(EventClaims):
    """Short names, for tests."""

    def take(self, keys: Sequence[str], token: str) -> list[Claimed]:
        """Claim for the usual time."""
        return self.claim(keys, token, CLAIM_SECONDS, WITHIN)

    def done(self, key: str, token: str, event_id: str = "evt-1", lifetime_ms: int = A_DAY_MS) -> int:
        """Commit one."""
        return self.commit([Stored(key, token, event_id, lifetime_ms)], WITHIN)


@pytest.fixture(scope="module")
def client(urls: tuple[str, str]) -> Iterator[RedisClient]:
    with broker.connect_limited(urls[0], pool_size=60) as connected:
        yield connected


@pytest.fixture
def claims(client: RedisClient) -> CountedClaims:
    return CountedClaims(client)


@pytest.fixture
def key(share_id: str) -> str:
    """The key of an event that no other test uses."""
    return f"{redis_keys.DEDUP}:payment:{share_id}:SUCCESS"


def left_ms(client: RedisClient, key: str) -> int:
    return int(str(client.pttl(key)))


def script_calls(client: RedisClient) -> int:
    stats = client.info("commandstats")
    return int(stats.get("cmdstat_evalsha", {}).get("calls", 0))


def test_c3_of_fifty_threads_one_gets_an_event(claims: CountedClaims, key: str) -> None:
    found = together(50, lambda number: claims.take([key], f"worker-{number}")[0])
    assert found.count(NEW) == 1
    assert found.count(IN_FLIGHT) == 49


@pytest.mark.slow
def test_c3_of_four_processes_with_fifty_claims_one_gets_each_event(urls: tuple[str, str], key: str) -> None:
    keys = tuple(f"{key}:{number}" for number in range(20))
    jobs = [Job(urls[0], keys, f"worker-{number}") for number in range(50)]
    with ProcessPoolExecutor(4, multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(claim_in_a_process, jobs))
    assert [column.count(NEW) for column in zip(*found, strict=True)] == [1] * len(keys)


def test_c3_a_claim_is_a_single_set_that_reads_only_when_it_is_refused(
    claims: CountedClaims, client: RedisClient, key: str
) -> None:
    claims.take([f"{key}:warm"], "me")
    client.config_resetstat()
    claims.take([key], "me")
    stats = client.info("commandstats")
    assert stats["cmdstat_set"]["calls"] == 1
    assert "cmdstat_get" not in stats
    claims.take([key], "another")
    assert client.info("commandstats")["cmdstat_get"]["calls"] == 1


@pytest.mark.parametrize("lifetime_ms", [SEVEN_DAYS_MS, FIVE_MINUTES_MS, A_DAY_MS])
def test_c4_what_is_stored_is_known_for_the_lifetime_of_its_type(
    claims: CountedClaims, client: RedisClient, key: str, lifetime_ms: int
) -> None:
    claims.take([key], "me")
    assert CLAIM_SECONDS * 1000 - 1_000 < left_ms(client, key) <= CLAIM_SECONDS * 1000
    assert claims.done(key, "me", "evt-7", lifetime_ms) == 1
    assert lifetime_ms - 1_000 <= left_ms(client, key) <= lifetime_ms
    assert claims.take([key], "another") == [Claimed(ClaimState.DONE, "evt-7")]
    assert lifetime_ms - 1_000 <= left_ms(client, key) <= lifetime_ms


def test_c4_after_its_lifetime_an_event_is_accepted_again(claims: CountedClaims, client: RedisClient, key: str) -> None:
    claims.take([key], "me")
    claims.done(key, "me", lifetime_ms=5)
    while client.exists(key):
        pass
    assert claims.take([key], "me") == [NEW]


def test_c7_who_comes_while_the_first_is_being_stored_learns_that_and_has_its_way_when_that_fails(
    claims: CountedClaims, key: str
) -> None:
    assert claims.take([key], "first") == [NEW]
    assert claims.take([key], "second") == [IN_FLIGHT]
    assert claims.release([(key, "first")], WITHIN) == 1
    assert claims.take([key], "second") == [NEW]


def test_c7_the_claim_of_a_dead_worker_ends_by_itself(claims: CountedClaims, client: RedisClient, key: str) -> None:
    claims.claim([key], "dead", 0.005, WITHIN)
    while client.exists(key):
        pass
    assert claims.take([key], "next") == [NEW]


def test_c8_a_late_finalizer_neither_deletes_nor_finishes_a_newer_claim(
    claims: CountedClaims, client: RedisClient, key: str
) -> None:
    claims.take([key], "old")
    client.delete(key)  # what its expiry does
    claims.take([key], "new")
    assert claims.release([(key, "old")], WITHIN) == 0
    assert claims.done(key, "old", "evt-old") == 0
    assert claims.take([key], "third") == [IN_FLIGHT]
    assert claims.done(key, "new", "evt-new") == 1
    assert claims.done(key, "old", "evt-old") == 0
    assert claims.release([(key, "new")], WITHIN) == 0
    assert claims.take([key], "third") == [Claimed(ClaimState.DONE, "evt-new")]


def test_c8_a_stored_event_whose_claim_ran_out_is_known_all_the_same(claims: CountedClaims, key: str) -> None:
    assert claims.done(key, "me", "evt-1") == 1
    assert claims.take([key], "another") == [Claimed(ClaimState.DONE, "evt-1")]


def test_c6_an_event_that_was_given_up_may_come_again_and_only_that_one(claims: CountedClaims, key: str) -> None:
    claims.take([key], "me")
    claims.done(key, "me", "evt-1")
    assert not claims.withdraw(key, "evt-0", WITHIN)
    assert claims.withdraw(key, "evt-1", WITHIN)
    assert claims.take([key], "another") == [NEW]
    assert not claims.withdraw(key, "evt-1", WITHIN)


@pytest.mark.slow
def test_c10_workers_whose_clocks_are_five_minutes_apart_find_the_same(
    urls: tuple[str, str], claims: CountedClaims, client: RedisClient, key: str
) -> None:
    keys = (key, f"{key}:done")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        fast = pool.submit(claim_in_a_process, Job(urls[0], keys, "fast", 300.0)).result(30)
        assert fast == [NEW, NEW]
        assert all(29_000 < left_ms(client, each) <= 30_000 for each in keys)
        claims.done(keys[1], "fast", "evt-1", FIVE_MINUTES_MS - 1)
        slow = pool.submit(claim_in_a_process, Job(urls[0], keys, "slow", -300.0)).result(30)
    assert slow == claims.take(keys, "right") == [IN_FLIGHT, Claimed(ClaimState.DONE, "evt-1")]


def test_c13_a_batch_is_one_round_trip_and_each_of_it_has_its_own_answer(
    claims: CountedClaims, client: RedisClient, key: str
) -> None:
    keys = [f"{key}:{number}" for number in range(500)]
    claims.take([keys[3]], "another")
    claims.done(keys[5], "nobody", "evt-5")
    before = script_calls(client)
    found = claims.take(keys, "me")
    assert script_calls(client) - before == 1
    assert found[3] == IN_FLIGHT
    assert found[5] == Claimed(ClaimState.DONE, "evt-5")
    assert found.count(NEW) == 498
    stored = [Stored(each, "me", f"evt-{number}", 60_000 + number) for number, each in enumerate(keys)]
    assert claims.commit(stored, WITHIN) == 498
    assert script_calls(client) - before == 2
    assert claims.take(keys, "late")[499] == Claimed(ClaimState.DONE, "evt-499")
    assert 59_000 < left_ms(client, keys[499]) <= 60_499


def test_c13_an_event_that_comes_twice_in_a_batch_is_new_once(claims: CountedClaims, key: str) -> None:
    assert claims.take([key, key, f"{key}:x", key], "me") == [NEW, IN_FLIGHT, NEW, IN_FLIGHT]


def test_scripts_survive_a_restart_of_redis(claims: CountedClaims, client: RedisClient, key: str) -> None:
    claims.take([key], "me")
    client.script_flush()
    assert claims.take([key], "another") == [IN_FLIGHT]
    client.script_flush()
    assert claims.done(key, "me") == 1
    client.script_flush()
    assert claims.withdraw(key, "evt-1", WITHIN)


def test_no_key_is_left_without_a_lifetime(claims: CountedClaims, client: RedisClient, key: str) -> None:
    claims.take([f"{key}:a", f"{key}:b"], "me")
    claims.done(f"{key}:b", "me")
    claims.done(f"{key}:c", "me")
    assert all(left_ms(client, f"{key}:{name}") > 0 for name in "abc")
