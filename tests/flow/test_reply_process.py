"""Asking the engine when this process, or the ledger, is not to be relied on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.flow.test_reply import opened
from tests.support.variations import Witness, engine, failing, process, unanswered, using, wrapping
from tests.support.world import World
from wechat_bridge.errors import (
    BridgeError,
    BrokerUnavailable,
    EngineRefused,
    EngineUnavailable,
    LedgerUnavailable,
    OwnerStale,
)
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.model.outcome import Done, RetryIn
from wechat_bridge.model.turn import TurnState


def test_a_process_that_is_not_seen_alive_claims_nothing(world: World) -> None:
    asking, scripted = engine(world, "the answer")
    turn = opened(asking)
    with pytest.raises(OwnerStale):
        reply.generate_reply(process(asking, "frozen", stale=True).bridge, turn.id)
    assert (world.turn(turn.id), scripted.asked) == (turn, [])


def test_a_process_that_stood_still_while_it_read_the_conversation_does_not_ask(world: World) -> None:
    asking, scripted = engine(world, "the answer")
    turn = opened(asking)
    witness = Witness("standing-still")

    def read_slowly(chat_id: str, *rest: Any) -> Any:
        witness.stale = True
        return asking.bridge.conversations.get(chat_id, *rest)

    slow = wrapping(using(asking, alive=witness), "conversations", "get", read_slowly)
    reply.generate_reply(slow.bridge, turn.id)
    assert scripted.asked == []
    assert world.turn(turn.id).state is TurnState.QUEUED


AWAY = LedgerUnavailable("away")


@pytest.fixture
def own_list(world: World) -> World:
    """The world with a retry list that nobody else works off."""
    return using(world, unfinished=Unfinished())


def test_an_answer_that_cannot_be_stored_now_is_stored_later_and_not_asked_for_again(own_list: World) -> None:
    asking, scripted = engine(own_list, "the answer")
    turn = opened(asking)
    with pytest.raises(LedgerUnavailable):
        reply.generate_reply(failing(asking, "turns", "release", AWAY, times=2).bridge, turn.id)
    assert own_list.turn(turn.id).state is TurnState.GENERATING
    own_list.bridge.unfinished.work_off()
    own_list.bridge.unfinished.work_off()
    assert own_list.turn(turn.id).state is TurnState.GENERATED
    deliver.deliver_reply(asking.bridge, turn.id)
    assert own_list.delivered() == ["the answer"]
    assert len(scripted.asked) == 1


def test_a_failure_that_cannot_be_written_now_is_written_later(own_list: World) -> None:
    asking, _ = engine(own_list, EngineUnavailable("x"))
    turn = opened(asking)
    with pytest.raises(LedgerUnavailable):
        reply.generate_reply(failing(asking, "turns", "release", AWAY).bridge, turn.id)
    own_list.bridge.unfinished.work_off()
    stored = own_list.turn(turn.id)
    assert (stored.state, stored.owner, stored.error) == (TurnState.QUEUED, None, "x")


def test_a_ledger_that_goes_away_before_the_engine_is_asked_gives_the_turn_back(own_list: World) -> None:
    asking, scripted = engine(own_list, "the answer")
    turn = opened(asking)
    outcome = reply.generate_reply(failing(asking, "inbox", "claim", AWAY).bridge, turn.id)
    assert isinstance(outcome, RetryIn)
    assert own_list.turn(turn.id).state is TurnState.QUEUED
    assert scripted.asked == []


@pytest.mark.parametrize("lost", [unanswered, failing])
def test_a_claim_of_which_nobody_heard_is_taken_back_and_does_not_count(
    own_list: World, lost: Callable[[World, str, str, Exception], World]
) -> None:
    asking, scripted = engine(own_list, "the answer")
    turn = opened(asking)
    with pytest.raises(LedgerUnavailable):
        reply.generate_reply(lost(asking, "turns", "claim", AWAY).bridge, turn.id)
    own_list.bridge.unfinished.work_off()
    stored = own_list.turn(turn.id)
    assert (stored.state, stored.owner, stored.generate_attempts) == (TurnState.QUEUED, None, 0)
    assert asking.answer(turn).state is TurnState.SENT
    assert len(scripted.asked) == 1


def test_an_answer_of_a_claim_that_was_taken_over_is_not_stored(own_list: World) -> None:
    asking, _ = engine(own_list, "late")
    turn = opened(asking)
    fresh, _ = engine(process(own_list, "another"), "fresh")

    class Slow:
        """Answers when somebody else has taken the turn over."""

        name = "echo"

        def answer(self, question: object) -> object:
            """Lose the claim, then answer."""
            held = own_list.turn(turn.id)
            own_list.bridge.turns.release(held, TurnState.QUEUED, own_list.bridge.clock.now(), held.ring_at)  # type: ignore[arg-type]
            reply.generate_reply(fresh.bridge, turn.id)
            return asking.bridge.engines["echo"].answer(question)  # type: ignore[arg-type]

    assert reply.generate_reply(using(own_list, engines={"echo": Slow()}).bridge, turn.id) == Done()
    assert own_list.turn(turn.id).answer == "fresh"


def test_a_delivery_that_cannot_be_rung_for_is_found_by_the_sweep(world: World) -> None:
    turn = opened(world)
    quiet = failing(world, "doorbells", "ring_deliver", BrokerUnavailable("away"))
    assert reply.generate_reply(quiet.bridge, turn.id) == Done()
    stored = world.turn(turn.id)
    assert stored.state is TurnState.GENERATED
    assert stored.ring_at is not None


@pytest.mark.parametrize("error", [EngineUnavailable("x"), EngineRefused("x")], ids=lambda error: type(error).__name__)
def test_what_an_engine_failed_at_stays_visible(world: World, error: BridgeError) -> None:
    asking, _ = engine(world, error)
    turn = opened(asking)
    reply.generate_reply(asking.bridge, turn.id)
    stored = world.turn(turn.id)
    assert "x" in (stored.error or "")
    assert TurnState.GENERATING.value in stored.times
