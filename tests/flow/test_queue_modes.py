"""What becomes of messages behind an open turn: collected, one by one, or the newest in place of that turn (J5)."""

from __future__ import annotations

import pytest

from tests.flow.delivering import answer_all, flush, queued, with_chunks
from tests.support.doorbells import taken
from tests.support.variations import OwnDoor, door, engine, failing, process, setting, using, wrapping
from tests.support.world import World
from wechat_bridge.engines.base import Answer, Question
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow import deliver, reply, turns
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.people.takeover import take_over
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.model import keys
from wechat_bridge.model.channel import QueueMode
from wechat_bridge.model.message import InboundMessage
from wechat_bridge.model.turn import ChunkState, Lane, Turn, TurnState

SKIPPED = ("skipped", "superseded")
ENDED = ("done", "superseded")
"""Of a row whose turn was superseded: its turn ended on purpose."""


def under(world: World, mode: QueueMode) -> World:
    """The channel under a queue mode, its sends not paced."""
    world.bridge.channels.configure(world.share_id, {"queue_mode": mode.value})
    return setting(world, "reply", pacing_seconds=0.0)


def write(world: World, *texts: str) -> list[InboundMessage]:
    """Let ann write messages one after the other; each makes her conversation due, and is flushed."""
    messages = [world.text(text) for text in texts]
    for message in messages:
        world.receive(message)
        flush(world)
    return messages


# collect


def test_a_channel_collects_what_waits_unless_told_otherwise(world: World) -> None:
    quick = setting(world, "reply", pacing_seconds=0.0)
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$unset": {"queue_mode": ""}})
    write(quick, "m1", "m2", "m3", "m4")
    assert answer_all(quick) == ["m1", "m2\nm3\nm4"]


# followup


def test_followup_answers_each_message_that_waited_by_itself_and_in_order(world: World) -> None:
    one_by_one = under(world, QueueMode.FOLLOWUP)
    messages = write(one_by_one, "m1", "m2", "m3", "m4")
    assert answer_all(one_by_one) == ["m1", "m2", "m3", "m4"]
    assert {one_by_one.row_state(message) for message in messages} == {("done", "")}
    conversation = world.bridge.conversations.get(world.chat())
    assert conversation is not None
    assert (conversation.flush_at, conversation.blocked) == (None, False)


def test_followup_merges_messages_that_found_no_turn_open(world: World) -> None:
    one_by_one = under(world, QueueMode.FOLLOWUP)
    one_by_one.receive(world.text("m1"))
    one_by_one.receive(world.text("m2"), world.text("m3"))
    assert answer_all(one_by_one) == ["m1\nm2\nm3"]


def test_followup_keeps_messages_apart_whose_turn_ended_before_their_window_did(world: World) -> None:
    one_by_one = under(world, QueueMode.FOLLOWUP)
    first = queued(one_by_one, "m1")
    one_by_one.receive(world.text("m2"), world.text("m3"), world.text("m4"))
    one_by_one.answer(first)
    assert answer_all(one_by_one) == ["m1", "m2", "m3", "m4"]
    one_by_one.receive(world.text("m5"), world.text("m6"))
    assert answer_all(one_by_one)[-1] == "m5\nm6"


# interrupt


def stopped_at(world: World, state: TurnState) -> tuple[World, Turn, OwnDoor]:
    """A turn of ann in a state, in a world under interrupt, and the door through which answers go."""
    own, sent = door(under(world, QueueMode.INTERRUPT))
    turn = queued(own, "m1")
    if state is not TurnState.QUEUED:
        reply.generate_reply(own.bridge, turn.id)
    if state is TurnState.GENERATING:
        held = {"state": "generating", "owner": "somebody", "chunks": []}
        world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": held})
    if state is TurnState.PARKED:
        changes: dict[str, object] = {"state": "parked", "ring_at": None, "park_reason": "send_budget"}
        world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": changes})
    return own, world.turn(turn.id), sent


@pytest.mark.parametrize(
    "state", [TurnState.QUEUED, TurnState.GENERATING, TurnState.GENERATED, TurnState.PARKED], ids=lambda state: state
)
def test_interrupt_ends_the_open_turn_and_answers_only_the_newest(world: World, state: TurnState) -> None:
    own, turn, sent = stopped_at(world, state)
    first = turn.message_ids[0]
    waiting = [world.text(text) for text in ("m2", "m3", "m4")]
    own.receive(*waiting)
    second = flush(own)
    assert second is not None
    assert second.id == keys.turn_id(world.share_id, waiting[-1].message_id)
    ended = world.turn(turn.id)
    assert (ended.state, ended.error, ended.open, ended.owner) == (TurnState.SKIPPED, "superseded", False, None)
    row = world.bridge.inbox.get(first)
    assert row is not None
    assert (row.state, row.reason) == ENDED
    assert [own.row_state(each) for each in waiting] == [SKIPPED, SKIPPED, ("pending", "")]
    for _ in range(2):  # doorbells of the turn before may still come
        reply.generate_reply(own.bridge, turn.id)
        deliver.deliver_reply(own.bridge, turn.id)
    answer_all(own)
    assert sent.texts == ["m4"]
    assert own.row_state(waiting[-1]) == ("done", "")


def test_interrupt_ends_a_turn_whose_engine_is_at_work_and_its_answer_is_not_sent(world: World) -> None:
    own, sent = door(under(world, QueueMode.INTERRUPT))
    asking, scripted = engine(own, "the answer to m1", "the answer to m2")
    turn = queued(asking, "m1")

    class Interrupted:
        name = "echo"

        def answer(self, question: Question) -> Answer:
            write(asking, "m2")
            return scripted.answer(question)

    busy = using(asking, engines={"echo": Interrupted()})
    reply.generate_reply(busy.bridge, turn.id)
    assert (world.turn(turn.id).state, world.turn(turn.id).answer) == (TurnState.SKIPPED, None)
    answer_all(asking)
    assert [each.text for each in scripted.asked] == ["m1", "m2"]
    assert sent.texts == ["the answer to m2"]


def test_interrupt_between_two_chunks_leaves_what_was_sent_and_sends_no_more(world: World) -> None:
    own, turn, sent = stopped_at(world, TurnState.GENERATED)
    with_chunks(world, turn, 3)
    real = own.bridge.turns.write_chunk

    def write_chunk(*args: object, **kwargs: object) -> bool:
        done = real(*args, **kwargs)  # type: ignore[arg-type]
        if len(sent.sent) == 1 and args[2].state is ChunkState.ACCEPTED:  # type: ignore[attr-defined]
            write(own, "m2")
        return done

    deliver.deliver_reply(wrapping(own, "turns", "write_chunk", write_chunk).bridge, turn.id)
    assert sent.texts == ["c0"]
    ended = world.turn(turn.id)
    assert (ended.state, ended.error) == (TurnState.SKIPPED, "superseded")
    assert [chunk.state for chunk in ended.chunks] == ["accepted", "waiting", "waiting"]
    answer_all(own)
    assert sent.texts == ["c0", "m2"]


def test_interrupt_merges_messages_that_found_no_turn_open(world: World) -> None:
    own = under(world, QueueMode.INTERRUPT)
    own.receive(world.text("m1"), world.text("m2"))
    own.receive(world.text("m3"))
    assert answer_all(own) == ["m1\nm2\nm3"]


def test_interrupt_leaves_commands_notices_and_the_turns_of_others_alone(world: World) -> None:
    own = under(world, QueueMode.INTERRUPT)
    turn = queued(own, "m1")
    bob = queued(own, "from bob", "bob")
    (command,) = write(own, "/status")
    assert (world.turn(turn.id).open, world.turn(bob.id).open) == (True, True)
    write(own, "m2")
    asked = world.bridge.turns.open_of(world.chat(), Lane.COMMAND)
    assert asked is not None
    own.answer(asked)
    assert own.row_state(command) == ("done", "")
    assert world.turn(turn.id).error == "superseded"
    assert own.answer(world.turn(bob.id)).state is TurnState.SENT


def test_while_a_human_answers_nothing_is_superseded(world: World) -> None:
    own = under(world, QueueMode.INTERRUPT)
    turn = queued(own, "m1")
    take_over(world.bridge, world.share_id, world.user(), "operator", world.bridge.clock.now())
    (message,) = write(own, "m2")
    assert world.turn(turn.id).error == "a human answers"
    assert own.row_state(message) == ("skipped", "a human answers")


def test_a_turn_that_is_given_up_is_recorded_before_what_waits_behind_it_runs(world: World) -> None:
    own, turn, sent = stopped_at(world, TurnState.GENERATED)
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"state": "dead", "error": "no use"}})
    older, newest = write(own, "m2", "m3")
    assert world.turn(turn.id).state is TurnState.DEAD
    record_dead_letter(own.bridge, turn.id)
    letter = world.bridge.dead_letters.get(turn.id)
    assert letter is not None
    assert letter.error == "no use"
    answer_all(own)
    assert sent.texts[-1] == "m3"
    assert (own.row_state(older), own.row_state(newest)) == (SKIPPED, ("done", ""))


@pytest.mark.parametrize(
    ("part", "method"), [("turns", "stop"), ("inbox", "claim"), ("turns", "close"), ("turns", "open")], ids=str
)
def test_a_process_that_dies_while_it_supersedes_is_finished_by_the_next_one(
    world: World, part: str, method: str
) -> None:
    own, turn, sent = stopped_at(world, TurnState.GENERATED)
    older, newest = world.text("m2"), world.text("m3")
    own.receive(older, newest)
    world.make_due()
    with pytest.raises(LedgerUnavailable):
        turns.flush_conversation(failing(own, part, method, LedgerUnavailable("away")).bridge, world.chat())
    Sweeper().sweep(process(own, "another").bridge)
    answer_all(own)
    assert sent.texts == ["m3"]
    assert world.turn(turn.id).error == "superseded"
    assert (own.row_state(older), own.row_state(newest)) == (SKIPPED, ("done", ""))


def test_a_turn_that_moves_on_while_it_is_being_superseded_is_superseded_all_the_same(world: World) -> None:
    own, turn, sent = stopped_at(world, TurnState.QUEUED)
    real = own.bridge.turns.stop
    moved: list[str] = []

    def stop(*args: object) -> bool:
        if not moved:
            moved.append(turn.id)
            reply.generate_reply(own.bridge, turn.id)
        return real(*args)  # type: ignore[arg-type]

    own.receive(world.text("m2"))
    flush(wrapping(own, "turns", "stop", stop))
    assert world.turn(turn.id).error == "superseded"
    answer_all(own)
    assert sent.texts == ["m2"]


def test_a_message_that_arrives_while_a_turn_is_being_opened_interrupts_it_too(world: World) -> None:
    own, sent = door(setting(under(world, QueueMode.INTERRUPT), "debounce", idle_seconds=0.0))
    real = own.bridge.turns.open
    late = world.text("m2")

    def opening(turn: Turn) -> object:
        if not world.bridge.inbox.get(keys.inbox_id(world.share_id, late.message_id)):
            own.receive(late)
        return real(turn)

    own.receive(world.text("m1"))
    taken(world, "inbox")
    turns.flush_conversation(wrapping(own, "turns", "open", opening).bridge, world.chat())
    assert [(each.args, each.eta) for each in taken(world, "inbox")] == [([world.chat()], None)]
    answer_all(own)
    assert sent.texts == ["m2"]
