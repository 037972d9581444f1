"""Places at an engine and the line in front of it, in a real Redis, and what is left by the dead."""

from __future__ import annotations

import threading
import time

import pytest

from tests.store.gate_of_engine import Gate
from tests.support.together import together
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.engine_gates import EngineGates, Verdict

DAY_SECONDS = 86_400


@pytest.fixture
def gates(redis_client: RedisClient) -> EngineGates:
    """The store under test."""
    return EngineGates(redis_client)


@pytest.fixture
def gate(gates: EngineGates, redis_client: RedisClient) -> Gate:
    """A gate without a limit."""
    return Gate(gates, redis_client)


@pytest.fixture
def narrow(gates: EngineGates, redis_client: RedisClient) -> Gate:
    """A gate that lets two in at once."""
    return Gate(gates, redis_client, limit=2)


# places


def test_an_engine_without_limit_and_without_failures_leaves_nothing_in_redis(gate: Gate) -> None:
    places = [gate.enter(f"t{number}") for number in range(50)]
    assert all(place is not None and not place.must_leave for place in places)
    assert [gate.leave(place).next_turns for place in places] == [()] * 50
    assert gate.keys == []


def test_many_threads_never_ask_more_often_at_once_than_allowed_and_all_get_their_turn(narrow: Gate) -> None:
    inside, most, lock = 0, 0, threading.Lock()
    line: list[str] = [f"t{number}" for number in range(40)]
    done: list[str] = []

    def work(_: int) -> None:
        nonlocal inside, most
        deadline = time.monotonic() + 20
        while len(done) < 40 and time.monotonic() < deadline:
            with lock:
                turn = line.pop(0) if line else None
            if turn is None or (place := narrow.enter(turn)) is None:
                time.sleep(0.001)
                continue
            with lock:
                inside += 1
                most = max(most, inside)
            time.sleep(0.002)
            with lock:
                inside -= 1
                done.append(turn)
            left = narrow.leave(place)
            with lock:
                line.extend(left.next_turns)

    together(8, work)
    assert sorted(done) == sorted(f"t{number}" for number in range(40))
    assert most == 2


def test_who_waits_is_let_in_by_arrival_and_whoever_comes_later_does_not_push_in(narrow: Gate) -> None:
    first, second = narrow.enter("a"), narrow.enter("b")
    assert [narrow.enter(turn) for turn in ("c", "d", "e")] == [None] * 3
    assert narrow.leave(first).next_turns == ["c"]
    assert narrow.enter("late") is None, "the free place is kept for c"
    third = narrow.enter("c")
    assert narrow.leave(second).next_turns == ["d"]
    assert narrow.leave(third).next_turns == ["e"]
    assert (narrow.state.in_use, narrow.state.waiting, narrow.state.is_shut) == (2, 1, True)


def test_a_turn_that_comes_twice_waits_once(narrow: Gate) -> None:
    first = narrow.enter("a")
    narrow.enter("b")
    assert [narrow.enter("c") for _ in range(3)] == [None] * 3
    assert narrow.state.waiting == 1
    assert narrow.leave(first).next_turns == ["c"]


def test_a_second_doorbell_of_a_turn_does_not_free_the_place_of_the_first(narrow: Gate) -> None:
    running = narrow.enter("a", "me")
    again = narrow.enter("a", "other")
    narrow.leave(again, Verdict.NOTHING)
    assert running is not None
    assert narrow.state.in_use == 1


def test_a_place_whose_holder_never_came_back_is_free_when_its_lease_ends(narrow: Gate) -> None:
    narrow.enter("a")
    narrow.enter("b")
    assert narrow.enter("c") is None
    assert narrow.wake() == []
    narrow.pass_lease("me|a")
    assert narrow.wake() == ["c"]
    assert narrow.enter("late") is None, "the place is kept for c"


@pytest.mark.parametrize("limit", [0, 1])
def test_a_turn_whose_doorbell_was_lost_is_rung_again_before_those_that_came_later(
    gates: EngineGates, redis_client: RedisClient, limit: int
) -> None:
    gate = Gate(gates, redis_client, limit=limit)
    gate.gates.line_up(gate.name, ["a"])
    assert gate.wake() == ["a"]
    gate.gates.line_up(gate.name, ["b"])
    assert gate.wake(most=1) == ([] if limit else ["b"])
    gate.pass_lease("called|a")
    gate.gates.line_up(gate.name, ["c"])
    assert gate.wake(most=1) == ["a"]
    assert gate.enter("a") is not None
    assert gate.wake() == ([] if limit else ["c"])


def test_what_dead_processes_held_is_free_at_once_and_the_living_keep_theirs(narrow: Gate) -> None:
    narrow.enter("a", "host:1:dead")
    narrow.enter("b", "host:2:alive")
    narrow.enter("c")
    assert narrow.wake() == []
    assert narrow.wake("host:1:dead", "host:9:unknown") == ["c"]
    assert narrow.state.in_use == 2, "c has its place while its doorbell is on the way"


def test_a_line_is_bounded(redis_client: RedisClient) -> None:
    small = Gate(EngineGates(redis_client, most_waiting=10), redis_client, limit=1)
    small.enter("a")
    for number in range(30):
        small.enter(f"t{number}")
    small.gates.line_up(small.name, ["u", "v"])
    assert small.state.waiting == 10


def test_turns_that_were_found_in_the_ledger_stand_behind_those_in_the_line(narrow: Gate) -> None:
    first = narrow.enter("a")
    narrow.enter("b")
    narrow.enter("c")
    narrow.gates.line_up(narrow.name, ["c", "d"])
    narrow.gates.line_up(narrow.name, [])
    narrow.gates.forget(narrow.name, "c")
    assert narrow.leave(first).next_turns == ["d"]


# what is left behind


def test_every_key_has_a_lifetime(narrow: Gate) -> None:
    first = narrow.enter("a")
    narrow.enter("b")
    narrow.enter("c")
    narrow.leave(first, Verdict.FAILED, hold_seconds=9)
    assert len(narrow.keys) == 4
    for key in narrow.keys:
        assert 0 < float(str(narrow.client.ttl(key))) <= DAY_SECONDS


def test_after_a_flush_everybody_is_let_in_and_what_was_held_is_given_back_in_peace(narrow: Gate) -> None:
    first = narrow.enter("a")
    narrow.enter("b")
    narrow.enter("c")
    narrow.client.flushdb()
    assert narrow.enter("c") is not None
    assert narrow.leave(first).next_turns == []
    assert (narrow.state.in_use, narrow.state.waiting) == (1, 0)


def test_the_keys_of_one_engine_say_nothing_about_another(gates: EngineGates, redis_client: RedisClient) -> None:
    down, other = Gate(gates, redis_client), Gate(gates, redis_client)
    down.shut()
    assert other.enter("a") is not None
    assert [state.is_open for state in gates.look({down.name: 0, other.name: 0})] == [True, False]
    assert gates.look({}) == []
    assert redis_keys.engine_breaker(down.name) in down.keys
