"""An engine that fails is left alone for a while by everybody, and tried by one."""

from __future__ import annotations

import time

import pytest

from tests.store.gate_of_engine import Gate
from tests.support.together import together
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.engine_gates import EngineGates, Verdict


@pytest.fixture
def gate(redis_client: RedisClient) -> Gate:
    """A gate without a limit."""
    return Gate(EngineGates(redis_client), redis_client)


def test_failures_in_a_row_shut_the_gate_for_everybody_and_say_why(gate: Gate) -> None:
    assert [gate.fail(turn).change for turn in ("a", "b")] == ["", ""]
    assert not gate.state.is_open
    left = gate.fail("c")
    assert (left.is_open, left.change, left.delay_seconds, left.next_turns) == (True, "opened", 60, ["c"])
    assert gate.enter("d") is None
    state = gate.state
    assert (state.is_open, state.reason, state.waiting) == (True, "HTTP 500", 2)
    assert abs(time.time() - state.open_since.timestamp()) < 5  # type: ignore[union-attr]


def test_an_answer_in_between_begins_the_count_anew(gate: Gate) -> None:
    for number in range(6):
        gate.fail(f"a{number}")
        gate.fail(f"b{number}")
        gate.leave(gate.enter(f"c{number}"))
    assert not gate.state.is_open


def test_a_call_that_began_before_the_failures_tells_that_the_engine_answers(gate: Gate) -> None:
    early = gate.enter("early")
    gate.fail("a")
    gate.fail("b")
    gate.leave(early)
    assert not gate.fail("c").is_open


def test_after_the_pause_exactly_one_of_many_tries(gate: Gate) -> None:
    gate.shut()
    gate.pass_pause()
    assert len([place for place in together(20, lambda number: gate.enter(f"t{number}")) if place]) == 1


def test_a_try_that_is_answered_opens_the_gate_and_lets_the_line_in_two_by_two(gate: Gate) -> None:
    gate.shut()
    for turn in ("d", "e", "f"):
        gate.enter(turn)
    left = gate.leave(gate.enter_to_try())
    assert (left.is_open, left.change) == (False, "closed")
    assert left.next_turns == ["first-2", "d"]
    assert not gate.state.is_open
    assert gate.leave(gate.enter("first-2")).next_turns == ["e", "f"]
    last = gate.enter("e")
    assert last is not None
    assert not last.must_leave, "nobody waits and nothing failed since"


def test_pauses_double_while_the_tries_fail_up_to_the_longest(gate: Gate) -> None:
    gate.shut()
    since = gate.state.open_since
    found = [gate.leave(gate.enter_to_try(), Verdict.FAILED).delay_seconds for _ in range(4)]
    assert found == [120, 240, 240, 240]
    assert gate.state.open_since == since


def test_the_failed_try_waits_behind_the_others_so_that_the_next_one_is_another(gate: Gate) -> None:
    gate.shut()
    gate.enter("other")
    gate.gates.forget(gate.name, "first-2")
    assert gate.leave(gate.enter_to_try(), Verdict.FAILED).next_turns == ["other"]
    assert gate.wake() == [], "not before the pause is over"
    gate.pass_pause()
    assert gate.wake() == ["other"]
    assert gate.wake() == ["other"], "it stays in the line until it comes"
    assert gate.enter("other") is not None
    assert gate.wake() == [], "one tries at a time"


def test_a_gate_that_has_just_opened_shuts_at_the_first_failure(gate: Gate) -> None:
    gate.shut()
    gate.leave(gate.enter_to_try())
    assert gate.fail("x").change == "opened"


def test_a_try_that_was_not_made_leaves_it_to_the_next_one(gate: Gate) -> None:
    gate.shut()
    gate.enter("d")
    left = gate.leave(gate.enter_to_try(), Verdict.NOTHING)
    assert (left.is_open, left.change, left.next_turns) == (True, "", ["first-2"])
    assert gate.enter("d") is not None


def test_the_try_of_a_dead_process_leaves_it_to_the_next_one(gate: Gate) -> None:
    gate.shut()
    gate.enter_to_try("try", "host:1:dead")
    assert gate.enter("d") is None
    assert gate.wake("host:1:other") == []
    assert gate.wake("host:1:dead") == ["first-2"]


def test_an_engine_that_asks_for_a_pause_gets_it_at_once_but_not_for_longer_than_the_longest(gate: Gate) -> None:
    left = gate.fail("a", hold_seconds=90)
    assert (left.is_open, left.change, left.delay_seconds) == (True, "opened", 90)
    assert gate.enter("b") is None
    assert gate.leave(gate.enter_to_try(), Verdict.FAILED, hold_seconds=3_600).delay_seconds == 240


def test_a_late_failure_of_a_call_from_before_does_not_lengthen_the_pause_but_is_the_engines_too(gate: Gate) -> None:
    late = gate.enter("late")
    gate.shut()
    gate.pass_pause()
    left = gate.leave(late, Verdict.FAILED)
    assert (left.is_open, left.change, left.is_guilty) == (True, "", False)
    assert left.next_turns == ["first-2"], "the pause is over, so somebody may try"


def test_a_late_answer_of_a_call_from_before_proves_nothing(gate: Gate) -> None:
    late = gate.enter("late")
    gate.shut()
    assert gate.leave(late).is_open


def test_a_turn_on_which_the_engine_fails_again_after_it_answered_others_is_the_one_to_blame(gate: Gate) -> None:
    assert not gate.shut().is_guilty
    gate.pass_second()
    assert not gate.leave(gate.enter_to_try("first-2"), Verdict.FAILED).is_guilty, "it answered nobody"
    gate.pass_second()
    gate.leave(gate.enter_to_try())
    assert gate.fail("first-2").is_guilty
    assert gate.state.waiting == 0, "it does not wait with the others"
    gate.leave(gate.enter_to_try())
    assert not gate.fail("new").is_guilty
