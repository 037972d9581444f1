"""Asking the engine: once, with the question kept, and the answer stored before anything is sent."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.doorbells import taken
from tests.support.together import together
from tests.support.variations import engine, setting
from tests.support.world import World
from wechat_bridge.errors import (
    EngineRefused,
    EngineUnavailable,
)
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.model import keys
from wechat_bridge.model.chunks import TOO_LONG
from wechat_bridge.model.outcome import Done, GiveUp, RetryIn
from wechat_bridge.model.turn import Turn, TurnState


def opened(world: World, *texts: str) -> Turn:
    """The turn of these messages of ann."""
    world.receive(*(world.text(text) for text in texts or ("hello",)))
    world.make_due()
    turn = world.flush()
    assert turn is not None
    return turn


def let_time_pass(world: World, turn: Turn) -> None:
    """Let the next attempt of a turn be due."""
    world.bridge.turns.collection.update_one(
        {"_id": turn.id}, {"$set": {"next_attempt_at": world.bridge.clock.now() - timedelta(seconds=1)}}
    )


def test_the_answer_is_stored_whole_before_anything_is_sent(world: World) -> None:
    asking, scripted = engine(world, "the answer")
    turn = opened(asking, "one", "two")
    assert reply.generate_reply(asking.bridge, turn.id) == Done()
    stored = world.turn(turn.id)
    assert (stored.state, stored.question, stored.answer) == (TurnState.GENERATED, "one\ntwo", "the answer")
    assert [chunk.text for chunk in stored.chunks] == ["the answer"]
    assert [chunk.client_id for chunk in stored.chunks] == [keys.client_id(turn.id, 0)]
    assert stored.engine_call is not None
    call = stored.engine_call
    assert (call.engine, call.model, call.completion_tokens, call.attempt) == ("echo", "scripted", 2, 1)
    assert (stored.owner, stored.lease_until) == (None, None)
    assert world.delivered() == []
    assert [(each.task, each.task_id, each.args) for each in taken(world, "deliver")] == [
        ("deliver_reply", f"deliver:{turn.id}", [turn.id])
    ]
    question = scripted.asked[0]
    assert (question.turn_id, question.user_id, question.chat_id) == (turn.id, world.user(), world.chat())


def test_the_engine_is_asked_once_however_many_doorbells_come(world: World) -> None:
    asking, scripted = engine(world, "the answer")
    turn = opened(asking)
    together(10, lambda _: reply.generate_reply(asking.bridge, turn.id))
    deliver.deliver_reply(asking.bridge, turn.id)
    reply.generate_reply(asking.bridge, turn.id)
    assert len(scripted.asked) == 1
    assert world.delivered() == ["the answer"]


def test_a_long_answer_becomes_chunks_within_the_send_budget(world: World) -> None:
    asking, _ = engine(setting(world, "reply", chunk_characters=40, pacing_seconds=0.0), "word " * 60)
    turn = opened(asking)
    assert asking.answer(turn).state is TurnState.SENT
    assert len(world.delivered()) == 8
    assert "".join(world.delivered()).replace(" ", "") == "word" * 60


def test_an_answer_beyond_every_budget_says_so(world: World) -> None:
    small = setting(world, "reply", chunk_characters=40, chunk_bytes=64, sends_per_message=3, pacing_seconds=0.0)
    asking, _ = engine(small, "word " * 60)
    asking.answer(opened(asking))
    assert len(world.delivered()) == 3
    assert world.delivered()[-1] == TOO_LONG


def test_half_a_character_in_an_answer_is_stored_and_sent_as_a_replacement(world: World) -> None:
    asking, _ = engine(world, "broken \ud83d here")
    turn = asking.answer(opened(asking))
    assert turn.answer == "broken \N{REPLACEMENT CHARACTER} here"
    assert world.delivered() == [turn.answer]


@pytest.mark.parametrize("nothing", ["", "  \n "])
def test_an_empty_answer_ends_the_turn_on_purpose_and_sends_nothing(world: World, nothing: str) -> None:
    asking, _ = engine(world, nothing)
    message = world.text("hello")
    asking.receive(message)
    asking.make_due()
    turn = asking.flush()
    assert turn is not None
    ended = asking.answer(turn)
    assert (ended.state, ended.error, ended.open) == (TurnState.SKIPPED, "the engine answered nothing", False)
    assert world.row_state(message) == ("done", "the engine answered nothing")
    assert world.delivered() == []


def test_a_turn_whose_messages_were_answered_in_another_one_is_skipped(world: World) -> None:
    asking, scripted = engine(world, "the answer")
    turn = opened(asking)
    world.bridge.inbox.claim(turn.message_ids, "another turn")
    ended = asking.answer(turn)
    assert (ended.state, ended.error, ended.open) == (TurnState.SKIPPED, "already answered", False)
    assert scripted.asked == []


# when the engine fails


def test_an_engine_that_is_away_is_asked_again_later_and_given_up_after_four_attempts(world: World) -> None:
    asking, scripted = engine(world, EngineUnavailable("HTTP 503"))
    turn = opened(asking)
    for attempt in (1, 2, 3):
        outcome = reply.generate_reply(asking.bridge, turn.id)
        assert isinstance(outcome, RetryIn)
        stored = world.turn(turn.id)
        assert (stored.state, stored.owner, stored.generate_attempts) == (TurnState.QUEUED, None, attempt)
        assert stored.next_attempt_at is not None
        assert stored.next_attempt_at > world.bridge.clock.now() - timedelta(seconds=1)
        let_time_pass(world, turn)
    assert isinstance(reply.generate_reply(asking.bridge, turn.id), GiveUp)
    dead = world.turn(turn.id)
    assert (dead.state, dead.failed_stage, dead.error_class) == (TurnState.DEAD, "reply", "EngineUnavailable")
    assert "HTTP 503" in (dead.error or "")
    assert len(scripted.asked) == 4


def test_a_doorbell_before_the_next_attempt_is_due_asks_nobody(world: World) -> None:
    asking, scripted = engine(world, EngineUnavailable("x", retry_after_seconds=30.0))
    turn = opened(asking)
    outcome = reply.generate_reply(asking.bridge, turn.id)
    assert isinstance(outcome, RetryIn)
    assert outcome.seconds >= 30
    assert reply.generate_reply(asking.bridge, turn.id) == Done()
    assert len(scripted.asked) == 1


def test_an_engine_that_recovers_answers_and_the_person_sees_one_answer(world: World) -> None:
    asking, scripted = engine(world, EngineUnavailable("x"), "the answer")
    turn = opened(asking)
    reply.generate_reply(asking.bridge, turn.id)
    let_time_pass(world, turn)
    assert asking.answer(turn).error is None
    assert len(scripted.asked) == 2
    assert world.delivered() == ["the answer"]


def test_an_engine_that_refuses_is_asked_once(world: World) -> None:
    asking, scripted = engine(world, EngineRefused("the key is wrong"))
    turn = opened(asking)
    outcome = reply.generate_reply(asking.bridge, turn.id)
    assert outcome == GiveUp("EngineRefused: the key is wrong")
    assert len(scripted.asked) == 1


def test_a_channel_whose_engine_does_not_exist_gives_up_and_names_those_that_do(world: World) -> None:
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": {"engine": "gpt"}})
    turn = opened(world)
    outcome = reply.generate_reply(world.bridge, turn.id)
    assert isinstance(outcome, GiveUp)
    assert "'gpt'" in outcome.reason
    assert "echo" in outcome.reason


def test_a_channel_that_was_removed_gives_up_and_its_messages_fail_with_the_reason(world: World) -> None:
    turn = opened(world)
    world.bridge.channels.collection.delete_one({"_id": world.share_id})
    assert isinstance(reply.generate_reply(world.bridge, turn.id), GiveUp)
    record_dead_letter(world.bridge, turn.id)
    row = world.bridge.inbox.get(turn.message_ids[0])
    assert row is not None
    assert row.state == "failed"
    assert world.share_id in row.reason
