"""A turn that has ended is not stopped any more, also while its rows are still being closed."""

from __future__ import annotations

import pytest

from tests.flow.delivering import generated, send
from tests.support.variations import failing
from tests.support.world import World
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.stop import stop_turn
from wechat_bridge.model.turn import TurnState


def stop(world: World) -> bool:
    """Stop the question of ann."""
    return stop_turn(world.bridge, world.chat(), world.bridge.clock.now(), "stopped by the person")


def test_an_answer_that_has_just_been_sent_stays_sent(world: World) -> None:
    turn = generated(world)
    with pytest.raises(LedgerUnavailable):
        send(failing(world, "turns", "close", LedgerUnavailable("away")), turn)
    assert (world.turn(turn.id).state, world.turn(turn.id).open) == (TurnState.SENT, True)
    assert not stop(world)
    assert (world.turn(turn.id).state, world.turn(turn.id).error) == (TurnState.SENT, None)


def test_a_turn_that_is_being_given_up_is_recorded_all_the_same(world: World) -> None:
    turn = generated(world)
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"state": "dead", "error": "no use"}})
    assert not stop(world)
    record_dead_letter(world.bridge, turn.id)
    letter = world.bridge.dead_letters.get(turn.id)
    assert letter is not None
    assert letter.error == "no use"


def test_a_turn_in_work_is_stopped_once(world: World) -> None:
    turn = generated(world)
    assert stop(world)
    assert (world.turn(turn.id).state, world.turn(turn.id).open) == (TurnState.SKIPPED, False)
    assert not stop(world)
