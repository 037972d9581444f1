"""A given-up turn is tried again once, under its own id, and nobody is asked or told anything twice."""

from __future__ import annotations

import time

import pytest

from tests.support.doorbells import taken
from tests.support.together import together
from tests.support.variations import ScriptedEngine, door, engine, failing
from tests.support.world import World
from wechat_bridge.errors import (
    DeadLetterUnknown,
    EngineRefused,
    LedgerUnavailable,
    NotConfigured,
    PlatformUnavailable,
    ReplayRefused,
)
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.dead_letters import replay
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.dead_letters.refused import keep_failed_task
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.model.message import InboundMessage
from wechat_bridge.model.turn import ChunkState, Turn, TurnState

BY = "ann@ops"


def ask(world: World, message: InboundMessage) -> Turn:
    """The turn of a message, opened."""
    world.receive(message)
    world.make_due()
    turn = world.flush()
    assert turn is not None
    return turn


def dead(world: World, message: InboundMessage, error: Exception | None = None) -> Turn:
    """A turn whose engine refused it, recorded and closed."""
    broken, _ = engine(world, error or EngineRefused("the key is wrong"))
    turn = ask(broken, message)
    reply.generate_reply(broken.bridge, turn.id)
    record_dead_letter(broken.bridge, turn.id)
    assert not world.turn(turn.id).open
    return turn


def dead_in_delivery(world: World, message: InboundMessage) -> tuple[Turn, ScriptedEngine]:
    """A turn of two chunks of which WeChat took the first; recorded and closed."""
    chatty, asked = engine(world, "a" * 1990 + "\n\n" + "b" * 1990)
    deaf, _ = door(chatty, "id-1", NotConfigured("no route"))
    turn = ask(deaf, message)
    reply.generate_reply(deaf.bridge, turn.id)
    deliver.deliver_reply(deaf.bridge, turn.id)
    assert world.turn(turn.id).state is TurnState.DEAD
    record_dead_letter(deaf.bridge, turn.id)
    return turn, asked


def letter_of(world: World, turn: Turn) -> DeadLetter:
    letter = world.bridge.dead_letters.get(turn.id)
    assert letter is not None
    return letter


def test_a_replayed_turn_is_answered_once_under_its_own_id_with_its_attempts_reset(world: World) -> None:
    message = world.text("hello")
    turn = dead(world, message)
    assert world.row_state(message)[0] == "failed"
    taken(world, "reply")
    assert replay.replay(world.bridge, turn.id, BY) == "the engine is asked again"
    assert [(each.task, each.task_id) for each in taken(world, "reply")] == [("generate_reply", turn.id)]
    opened = world.turn(turn.id)
    assert (opened.state, opened.open, opened.generate_attempts, opened.error) == ("queued", True, 0, None)
    assert world.row_state(message) == ("in_turn", "")
    assert world.answer(turn).state is TurnState.SENT
    assert world.delivered()[-1] == "hello"
    assert world.row_state(message) == ("done", "")
    letter = letter_of(world, turn)
    assert (letter.replayed_by, letter.waits) == (BY, False)
    assert letter.replayed_at is not None


def test_a_stored_answer_goes_on_being_sent_and_the_engine_is_not_asked_again(world: World) -> None:
    turn, asked = dead_in_delivery(world, world.text("hello"))
    taken(world, "deliver")
    assert replay.replay(world.bridge, turn.id, BY) == "the stored answer is sent"
    assert [each.task for each in taken(world, "deliver")] == ["deliver_reply"]
    healed, sent = door(world, "id-2")
    deliver.deliver_reply(healed.bridge, turn.id)
    done = world.turn(turn.id)
    assert done.state is TurnState.SENT
    assert [chunk.state for chunk in done.chunks] == [ChunkState.ACCEPTED] * 2
    assert sent.texts == [done.chunks[1].text], "the chunk that WeChat took is not sent again"
    assert sent.sent[0][1] == done.chunks[1].client_id
    assert len(asked.asked) == 1


def test_a_second_replay_is_refused_while_the_first_is_open_and_after_it_has_completed(world: World) -> None:
    turn = dead(world, world.text("hello"))
    replay.replay(world.bridge, turn.id, BY)
    with pytest.raises(ReplayRefused, match=r"replayed already and is open \(queued\)"):
        replay.replay(world.bridge, turn.id, BY)
    world.answer(turn)
    with pytest.raises(ReplayRefused, match=r"replayed already and is completed \(sent\)"):
        replay.replay(world.bridge, turn.id, BY)
    assert world.delivered().count("hello") == 1


def test_of_ten_replays_at_once_one_opens_the_turn(world: World) -> None:
    turn = dead(world, world.text("hello"))

    def attempt(_: int) -> bool:
        try:
            return bool(replay.replay(world.bridge, turn.id, BY))
        except ReplayRefused:
            return False

    assert together(10, attempt).count(True) == 1
    world.answer(turn)
    assert world.delivered().count("hello") == 1


def test_a_turn_waits_for_the_open_one_of_its_conversation(world: World) -> None:
    first = dead(world, world.text("one"))
    second = ask(world, world.text("two"))
    with pytest.raises(ReplayRefused, match=f"another turn of this conversation is open \\({second.id}, queued\\)"):
        replay.replay(world.bridge, first.id, BY)
    with pytest.raises(ReplayRefused, match="replay it when that has ended"):
        replay.look(world.bridge, first.id)
    assert letter_of(world, first).waits
    world.answer(second)
    replay.replay(world.bridge, first.id, BY)
    world.answer(first)
    assert [text for text in world.delivered() if text in ("one", "two")] == ["two", "one"]


def test_messages_that_come_during_a_replay_become_the_next_turn(world: World) -> None:
    turn = dead(world, world.text("one"))
    replay.replay(world.bridge, turn.id, BY)
    world.receive(world.text("two"))
    world.make_due()
    assert world.flush() == world.turn(turn.id)
    world.answer(turn)
    after = world.flush()
    assert after is not None
    assert world.answer(after).question == "two"


def test_a_turn_that_dies_again_waits_for_somebody_again_with_its_new_error(world: World) -> None:
    turn = dead(world, world.text("hello"))
    replay.replay(world.bridge, turn.id, BY)
    broken, _ = engine(world, EngineRefused("and now the model is unknown"))
    reply.generate_reply(broken.bridge, turn.id)
    record_dead_letter(broken.bridge, turn.id)
    letter = letter_of(world, turn)
    assert letter.waits
    assert "the model is unknown" in letter.error
    replay.replay(world.bridge, turn.id, BY)
    assert world.answer(turn).state is TurnState.SENT


def test_a_late_recording_of_the_first_death_does_not_undo_a_replay(world: World) -> None:
    turn = dead(world, world.text("hello"))
    before = letter_of(world, turn)
    replay.replay(world.bridge, turn.id, BY)
    assert not world.bridge.dead_letters.record(before)
    assert not letter_of(world, turn).waits


def test_a_worker_that_wakes_from_the_first_life_changes_nothing_in_the_second(world: World) -> None:
    turn = dead(world, world.text("hello"))
    sleeper = world.turn(turn.id)
    replay.replay(world.bridge, turn.id, BY)
    assert not world.bridge.turns.write(sleeper, {"answer": "from the past"})


def test_a_replay_that_dies_after_opening_the_turn_is_brought_to_its_end_and_noted(world: World) -> None:
    message = world.text("hello")
    turn = dead(world, message)
    dying = failing(world, "inbox", "reopen", LedgerUnavailable("away"))
    with pytest.raises(LedgerUnavailable):
        replay.replay(dying.bridge, turn.id, BY)
    assert world.answer(turn).state is TurnState.SENT
    assert letter_of(world, turn).waits
    with pytest.raises(ReplayRefused, match="completed"):
        replay.replay(world.bridge, turn.id, BY)
    assert not letter_of(world, turn).waits
    assert world.row_state(message) == ("done", "")


def test_looking_changes_nothing(world: World) -> None:
    turn = dead(world, world.text("hello"))
    before = world.turn(turn.id)
    assert replay.look(world.bridge, turn.id) == "the engine is asked again"
    assert world.turn(turn.id) == before
    assert letter_of(world, turn).waits


def test_what_is_unknown_or_not_closed_yet_or_no_turn_is_refused_saying_why(world: World) -> None:
    with pytest.raises(DeadLetterUnknown, match="wechat-bridge dead list"):
        replay.replay(world.bridge, "wechat-reply:nobody:1", BY)
    turn = dead(world, world.text("hello"))
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"open": True}})
    with pytest.raises(ReplayRefused, match="try again in a few seconds"):
        replay.replay(world.bridge, turn.id, BY)
    world.bridge.turns.collection.delete_one({"_id": turn.id})
    with pytest.raises(ReplayRefused, match="no such turn any more"):
        replay.replay(world.bridge, turn.id, BY)
    keep_failed_task(world.bridge, "wechat_bridge.sweep", "1", [world.share_id], ValueError("boom"))
    with pytest.raises(ReplayRefused, match="is a doorbell"):
        replay.replay(world.bridge, f"task:wechat_bridge.sweep:{world.share_id}", BY)


def test_a_discarded_letter_waits_for_nobody_and_is_not_replayed(world: World) -> None:
    turn = dead(world, world.text("hello"))
    assert replay.discard(world.bridge, turn.id, BY) == "discarded"
    letter = letter_of(world, turn)
    assert (letter.waits, letter.discarded_by) == (False, BY)
    assert world.share_id not in world.bridge.dead_letters.waiting()
    with pytest.raises(ReplayRefused, match=f"was discarded by {BY} at 20"):
        replay.replay(world.bridge, turn.id, BY)
    with pytest.raises(ReplayRefused, match="nothing left to discard"):
        replay.discard(world.bridge, turn.id, BY)


def test_many_are_handled_at_the_rate_given_and_a_refused_one_does_not_stop_the_rest(world: World) -> None:
    ids = ["unknown", dead(world, world.text("hello")).id, "unknown too"]
    started = time.monotonic()
    done = list(replay.one_by_one(world.bridge, ids, lambda each: replay.discard(world.bridge, each, BY), 20))
    assert time.monotonic() - started >= 2 / 20
    assert [each.error is None for each in done] == [False, True, False]
    assert "there is no dead letter unknown" in done[0].detail


def test_a_turn_that_ran_out_of_attempts_has_them_all_again(world: World) -> None:
    mute, _ = door(world, *[PlatformUnavailable("timeout")] * 4)
    turn = ask(mute, world.text("hello"))
    reply.generate_reply(mute.bridge, turn.id)
    for _ in range(4):
        world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"next_attempt_at": turn.next_attempt_at}})
        deliver.deliver_reply(mute.bridge, turn.id)
    record_dead_letter(world.bridge, turn.id)
    assert letter_of(world, turn).attempts == 5
    replay.replay(world.bridge, turn.id, BY)
    assert world.turn(turn.id).deliver_attempts == 0
    deliver.deliver_reply(world.bridge, turn.id)
    assert world.delivered() == [world.bridge.settings.reply.apology, "hello"]
