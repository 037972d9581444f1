"""Repeats are known before the ledger is asked; whatever Redis does, an event waits no longer than it may."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from prometheus_client import REGISTRY

from tests.support.frozen import frozen
from tests.support.together import together
from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.gateway.dedupe import Claim, ClaimState, Dedupe, Wanted
from wechat_bridge.gateway.degrade import AWAY, FAILING, SUBJECT, Guard
from wechat_bridge.local.services import RedisServer
from wechat_bridge.model.event_rules import DegradeRule
from wechat_bridge.observe import alerts
from wechat_bridge.store import broker
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.event_claims import Claimed, EventClaims

PATIENT = DegradeRule(timeout_ms=5_000)
HURRIED = DegradeRule(timeout_ms=100, failures=10)
A_DAY_MS = 86_400_000

_names = count()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def client(server: RedisServer) -> Iterator[RedisClient]:
    with broker.connect_limited(server.url) as connected:
        yield connected


@pytest.fixture
def dedupe(client: RedisClient) -> Dedupe:
    """As in one process, on a machine that may be busy."""
    return Dedupe(EventClaims(client), Guard(lambda: PATIENT))


@pytest.fixture
def hurried(client: RedisClient) -> Iterator[Dedupe]:
    """One that soon does without Redis."""
    yield Dedupe(EventClaims(client), Guard(lambda: HURRIED))
    for cause in (AWAY, FAILING):
        alerts.clear(cause, SUBJECT)


@pytest.fixture
def key() -> str:
    return f"dedup:payment:{next(_names)}:SUCCESS"


def take(dedupe: Dedupe, key: str) -> Claim:
    return dedupe.begin([Wanted(key)])[0]


def states(claims: list[Claim]) -> list[str]:
    return [claim.state.value for claim in claims]


def claims_left() -> float:
    return REGISTRY.get_sample_value("wechat_bridge_gateway_claims_left_total") or 0


def test_c1_what_was_stored_is_a_duplicate_of_that_event(dedupe: Dedupe, key: str) -> None:
    first = take(dedupe, key)
    assert first.state is ClaimState.NEW
    dedupe.commit([(first, "evt-1", A_DAY_MS)])
    again = take(dedupe, key)
    assert (again.is_duplicate, again.known_as) == (True, "evt-1")


def test_c2_what_has_no_key_is_always_new_and_asks_nothing(dedupe: Dedupe, client: RedisClient) -> None:
    before = client.dbsize()
    claims = dedupe.begin([Wanted(""), Wanted("")])
    assert states(claims) == ["new", "new"]
    dedupe.commit([(claim, "evt-1", A_DAY_MS) for claim in claims])
    dedupe.release(claims)
    assert client.dbsize() == before


def test_c3_of_fifty_at_once_one_is_new_and_for_the_others_the_ledger_decides(dedupe: Dedupe, key: str) -> None:
    found = states(together(50, lambda _: take(dedupe, key)))
    assert (found.count("new"), found.count("uncertain")) == (1, 49)


def test_c7_when_the_first_fails_the_next_one_is_new(dedupe: Dedupe, key: str) -> None:
    first, second = take(dedupe, key), take(dedupe, key)
    assert states([first, second]) == ["new", "uncertain"]
    dedupe.release([second])
    assert take(dedupe, key).state is ClaimState.UNCERTAIN
    dedupe.release([first])
    assert take(dedupe, key).state is ClaimState.NEW


def test_c7_where_the_ledger_took_the_second_one_that_is_what_repeats_are_told(
    dedupe: Dedupe, client: RedisClient, key: str
) -> None:
    take(dedupe, key)
    second = take(dedupe, key)
    dedupe.commit([(second, "evt-2", A_DAY_MS)])
    assert take(dedupe, key).state is ClaimState.UNCERTAIN  # the first may still be storing it
    client.delete(key)  # what the end of its claim does
    dedupe.commit([(second, "evt-2", A_DAY_MS)])
    assert take(dedupe, key).known_as == "evt-2"


def test_c8_who_is_late_changes_nothing_of_a_newer_claim(dedupe: Dedupe, client: RedisClient, key: str) -> None:
    late = take(dedupe, key)
    client.delete(key)
    take(dedupe, key)
    dedupe.release([late])
    dedupe.commit([(late, "evt-late", A_DAY_MS)])
    assert take(dedupe, key).state is ClaimState.UNCERTAIN


def test_c6_an_event_that_had_no_effect_may_come_again(dedupe: Dedupe, key: str) -> None:
    dedupe.commit([(take(dedupe, key), "evt-1", A_DAY_MS)])
    assert dedupe.forget(key, "evt-1")
    assert take(dedupe, key).state is ClaimState.NEW


def test_c13_a_batch_has_an_answer_for_each_in_order(dedupe: Dedupe, key: str) -> None:
    dedupe.commit([(take(dedupe, f"{key}:stored"), "evt-1", A_DAY_MS)])
    names = [f"{key}:a", "", f"{key}:stored", f"{key}:b", f"{key}:a"]
    claims = dedupe.begin([Wanted(name) for name in names])
    assert [claim.key for claim in claims] == names
    assert states(claims) == ["new", "new", "duplicate", "new", "uncertain"]


def test_c13_a_batch_beyond_five_hundred_is_several_calls_and_the_answers_are_the_same(
    dedupe: Dedupe, key: str
) -> None:
    wanted = [Wanted(f"{key}:{number}" if number % 3 else "") for number in range(2_000)]
    claims = dedupe.begin(wanted)
    assert set(states(claims)) == {"new"}
    dedupe.commit([(claim, f"evt-{number}", A_DAY_MS) for number, claim in enumerate(claims)])
    again = dedupe.begin(wanted)
    assert [claim.known_as for claim in again] == [f"evt-{number}" if number % 3 else "" for number in range(2_000)]


def test_d1_d5_where_redis_goes_away_in_the_middle_of_a_batch_what_was_claimed_is_claimed(
    client: RedisClient, key: str
) -> None:
    class Fleeting(EventClaims):
        """Is away from the second call on."""

        def claim(self, *args: Any) -> list[Claimed]:
            calls.append(1)
            if len(calls) > 1:
                raise BrokerUnavailable("Redis: TimeoutError")
            return super().claim(*args)

    calls = list[int]()
    dedupe = Dedupe(Fleeting(client), Guard(lambda: PATIENT))
    claims = dedupe.begin([Wanted(f"{key}:{number}", "closed" if number % 2 else "open") for number in range(1_200)])
    assert states(claims) == ["new"] * 500 + ["unguarded", "unavailable"] * 350
    assert len(calls) == 2


def test_d1_d5_without_redis_events_pass_or_are_refused_as_their_types_say(
    dedupe: Dedupe, hurried: Dedupe, server: RedisServer, key: str
) -> None:
    wanted = [Wanted(key), Wanted(f"{key}:paid", "closed"), Wanted("", "closed")]
    with frozen(server):
        claims = hurried.begin(wanted)
    assert states(claims) == ["unguarded", "unavailable", "new"]
    assert [claim.is_refused for claim in claims] == [False, True, False]
    assert states(dedupe.begin(wanted))[1] != "unavailable"


def test_d1_what_cannot_be_finished_raises_nothing_and_is_counted(
    dedupe: Dedupe, hurried: Dedupe, server: RedisServer, key: str
) -> None:
    first, second = take(dedupe, key), take(dedupe, f"{key}:b")
    before = claims_left()
    with frozen(server):
        hurried.commit([(first, "evt-1", A_DAY_MS)])
        hurried.release([second])
        assert not hurried.forget(key, "evt-1")
    assert claims_left() - before == 3


def test_d1_what_met_no_redis_waits_for_it_once_and_not_again_when_it_is_stored(
    hurried: Dedupe, server: RedisServer, key: str
) -> None:
    before = claims_left()
    with frozen(server):
        claim = take(hurried, key)
        hurried.commit([(claim, "evt-1", A_DAY_MS)])
        hurried.release([claim])
    assert claims_left() == before
