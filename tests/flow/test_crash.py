"""Errors nobody expected, in the middle of the work on a turn: counted, tried again, given up in the end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.flow.delivering import queued
from tests.support.variations import engine, process
from tests.support.world import World
from wechat_bridge.errors import DocumentInvalid
from wechat_bridge.flow import reply
from wechat_bridge.flow.crash import crashed
from wechat_bridge.model.outcome import Done, GiveUp, Outcome, RetryIn
from wechat_bridge.model.turn import Turn, TurnState


def crash(world: World, turn: Turn) -> Outcome:
    """Let the engine crash on a turn, and the base task meet it."""
    past = world.bridge.clock.now() - timedelta(seconds=1)
    world.bridge.turns.collection.update_one({"_id": turn.id, "state": "queued"}, {"$set": {"next_attempt_at": past}})
    with pytest.raises(ZeroDivisionError) as met:
        reply.generate_reply(world.bridge, turn.id)
    return crashed(world.bridge, turn.id, met.value)


def test_a_turn_that_crashes_is_tried_again_and_given_up_after_four_attempts(world: World) -> None:
    crashing, scripted = engine(world, ZeroDivisionError("division by zero"))
    turn = queued(crashing)
    outcomes = [crash(crashing, turn) for _ in range(4)]
    assert all(isinstance(outcome, RetryIn) for outcome in outcomes[:3])
    assert isinstance(outcomes[3], GiveUp)
    dead = world.turn(turn.id)
    assert (dead.state, dead.failed_stage) == (TurnState.DEAD, "reply")
    assert "ZeroDivisionError in the bridge itself" in (dead.error or "")
    assert "division by zero" in (dead.traceback or "")
    assert len(scripted.asked) == 4


def test_a_crash_that_passes_leaves_nothing_but_one_answer(world: World) -> None:
    crashing, _ = engine(world, ZeroDivisionError("x"), "the answer")
    turn = queued(crashing)
    assert isinstance(crash(crashing, turn), RetryIn)
    past = world.bridge.clock.now() - timedelta(seconds=1)
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"next_attempt_at": past}})
    assert crashing.answer(turn).error is None
    assert world.delivered() == ["the answer"]


def test_an_error_of_our_own_keeps_its_meaning(world: World) -> None:
    turn = queued(world)
    bridge = world.bridge
    bridge.turns.claim(
        turn.id, TurnState.QUEUED, TurnState.GENERATING, bridge.owner, bridge.clock.now(), bridge.clock.after(60)
    )
    outcome = crashed(bridge, turn.id, DocumentInvalid("inbox x: state does not fit"))
    assert outcome == GiveUp("DocumentInvalid: inbox x: state does not fit")


def test_a_crash_after_the_claim_was_lost_changes_nothing(world: World) -> None:
    turn = queued(world)
    bridge = world.bridge
    bridge.turns.claim(
        turn.id, TurnState.QUEUED, TurnState.GENERATING, "another", bridge.clock.now(), bridge.clock.after(60)
    )
    before = world.turn(turn.id)
    assert crashed(bridge, turn.id, ValueError("late")) == Done()
    assert world.turn(turn.id) == before


@pytest.mark.parametrize("state", [TurnState.QUEUED, TurnState.PARKED, TurnState.SENT])
def test_a_crash_outside_a_claim_changes_nothing(world: World, state: TurnState) -> None:
    turn = queued(world)
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"state": state.value}})
    before = world.turn(turn.id)
    assert crashed(process(world, "me").bridge, turn.id, ValueError("x")) == Done()
    assert crashed(world.bridge, "wechat-reply:nobody:1", ValueError("x")) == Done()
    assert world.turn(turn.id) == before
