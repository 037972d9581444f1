"""Waiting messages become turns: the debounce, one open turn, and what waits behind it."""

from __future__ import annotations

import pytest

from tests.support.doorbells import taken
from tests.support.variations import engine, failing, process, setting
from tests.support.world import World
from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable
from wechat_bridge.flow import deliver, reply, turns
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.model import keys
from wechat_bridge.model.message import InboundMessage
from wechat_bridge.model.turn import Turn, TurnState


def opened(world: World, name: str = "ann") -> Turn:
    """The turn of what waits, due now."""
    world.make_due(name)
    turn = world.flush(name)
    assert turn is not None
    return turn


def turn_of(world: World, message: InboundMessage) -> Turn:
    """The turn that ends with a message."""
    return world.turn(keys.turn_id(world.share_id, message.message_id))


def test_a_message_becomes_a_turn_and_is_answered_once(world: World) -> None:
    message = world.text("hello")
    world.receive(message)
    assert world.answer(opened(world)).state == "sent"
    assert world.delivered() == ["hello"]
    assert world.row_state(message) == ("done", "")


def test_messages_within_the_window_are_one_turn_with_the_last_ones_id_and_context(world: World) -> None:
    messages = [world.text(word) for word in ("one", "two", "three")]
    for message in messages:
        world.receive(message)
    turn = opened(world)
    assert turn.id == keys.turn_id(world.share_id, messages[-1].message_id)
    assert turn.message_ids == tuple(keys.inbox_id(world.share_id, each.message_id) for each in messages)
    assert world.answer(turn).question == "one\ntwo\nthree"
    assert world.control.sends(world.bot_id)[0]["context_token"] == messages[-1].context_token
    assert world.delivered() == ["one\ntwo\nthree"]


def test_a_flush_that_comes_early_does_nothing_but_ring_for_the_remainder(world: World) -> None:
    world.receive(world.text("one"))
    taken(world, "inbox")
    assert world.flush() is None
    again = taken(world, "inbox")
    assert [each.args for each in again] == [[world.chat()]]
    assert again[0].eta is not None
    assert taken(world, "reply") == []


def test_a_flush_after_the_window_opens_the_turn_and_rings_for_its_answer_once(world: World) -> None:
    world.receive(world.text("one"))
    turn = opened(world)
    rung = taken(world, "reply")
    assert [(each.task, each.task_id, each.args) for each in rung] == [("generate_reply", turn.id, [turn.id])]
    world.flush()
    assert taken(world, "reply") == []


def test_a_flush_of_nothing_does_nothing(world: World) -> None:
    turns.flush_conversation(world.bridge, "wechat_nobody_nobody")
    world.receive(world.text("one"))
    world.answer(opened(world))
    assert world.flush() is None
    assert world.delivered() == ["one"]


def test_at_most_twenty_messages_are_one_turn_and_the_rest_is_the_next_one(world: World) -> None:
    messages = [world.text(f"m{number}") for number in range(23)]
    world.receive(*messages)
    first = opened(world)
    assert len(first.message_ids) == 20
    world.answer(first)
    second = world.flush()
    assert second is not None
    world.answer(second)
    assert "\n".join(world.delivered()).split("\n") == [f"m{number}" for number in range(23)]


def test_messages_behind_an_open_turn_become_the_next_one_in_order(world: World) -> None:
    world.receive(world.text("m1"))
    first = opened(world)
    later = [world.text(f"m{number}") for number in range(2, 6)]
    for message in later:
        world.receive(message)
        world.make_due()
        world.flush()
    assert world.row_state(later[0]) == ("pending", "")
    world.answer(first)
    assert [each.args for each in taken(world, "inbox") if each.eta is None][-1] == [world.chat()]
    second = world.flush()
    assert second is not None
    world.answer(second)
    assert world.delivered() == ["m1", "m2\nm3\nm4\nm5"]


def test_what_waits_behind_a_turn_is_answered_even_if_that_turn_fails(world: World) -> None:
    broken, _ = engine(world, ValueError("boom"))
    world.receive(world.text("m1"))
    first = opened(world)
    world.receive(world.text("m2"))
    world.make_due()
    world.flush()
    late = world.bridge.clock.now()
    world.bridge.turns.collection.update_one({"_id": first.id}, {"$set": {"owner": "dead", "state": "generating",
        "lease_until": late, "ring_at": late, "generate_attempts": 4}})  # fmt: skip
    Sweeper().sweep(process(broken, "me", dead=["dead"]).bridge)
    record_dead_letter(world.bridge, first.id)
    second = world.flush()
    assert second is not None
    assert world.answer(second).question == "m2"


def test_two_persons_are_two_turns_at_the_same_time(world: World) -> None:
    world.receive(world.text("from ann"), world.text("from bob", name="bob"))
    ann, bob = opened(world), opened(world, "bob")
    world.answer(bob)
    world.answer(ann)
    assert world.delivered() == ["from ann"]
    assert world.delivered("bob") == ["from bob"]


# debounce 0 (K7)


def test_without_debouncing_one_answer_is_one_turn_with_the_last_id_and_context(world: World) -> None:
    quick = setting(world, "debounce", idle_seconds=0.0)
    messages = [quick.text("one"), quick.text("two")]
    quick.receive(*messages)
    turn = quick.flush()
    assert turn is not None
    assert turn.id == keys.turn_id(world.share_id, messages[-1].message_id)
    assert quick.answer(turn).question == "one\ntwo"
    assert world.control.sends(world.bot_id)[0]["context_token"] == messages[-1].context_token


def test_without_debouncing_two_answers_are_two_turns_of_one_conversation(world: World) -> None:
    quick = setting(world, "debounce", idle_seconds=0.0)
    quick.receive(quick.text("one"), quick.text("two"))
    quick.receive(quick.text("three"))
    first = quick.flush()
    assert first is not None
    quick.answer(first)
    second = quick.flush()
    assert second is not None
    quick.answer(second)
    assert first.chat_id == second.chat_id
    assert world.delivered() == ["one\ntwo", "three"]


def test_without_debouncing_two_persons_of_one_answer_are_two_turns_side_by_side(world: World) -> None:
    quick = setting(world, "debounce", idle_seconds=0.0)
    quick.receive(quick.text("a"), quick.text("b", name="bob"), quick.text("c"))
    ann, bob = quick.flush(), quick.flush("bob")
    assert ann is not None
    assert bob is not None
    assert len(ann.message_ids) == 2
    assert len(bob.message_ids) == 1


def test_without_debouncing_what_waited_behind_a_turn_is_collected(world: World) -> None:
    quick = setting(world, "debounce", idle_seconds=0.0)
    quick.receive(quick.text("m1"))
    first = quick.flush()
    assert first is not None
    for word in ("m2", "m3"):
        quick.receive(quick.text(word))
        quick.flush()
    quick.answer(first)
    second = quick.flush()
    assert second is not None
    quick.answer(second)
    assert world.delivered() == ["m1", "m2\nm3"]


# half done


def test_a_turn_whose_flush_died_before_it_rang_is_found_by_its_ring_time(world: World) -> None:
    world.receive(world.text("hello"))
    world.make_due()
    quiet = failing(world, "doorbells", "ring_reply", BrokerUnavailable("away"))
    turns.flush_conversation(quiet.bridge, world.chat())
    turn = world.bridge.turns.open_of(world.chat())
    assert turn is not None
    assert turn.ring_at is not None
    assert world.answer(turn).state is TurnState.SENT


def test_a_flush_that_died_after_opening_is_finished_by_the_next_one(world: World) -> None:
    world.receive(world.text("hello"))
    world.make_due()
    dying = failing(world, "conversations", "clear_due", LedgerUnavailable("away"))
    with pytest.raises(LedgerUnavailable):
        turns.flush_conversation(dying.bridge, world.chat())
    turn = world.flush()
    assert turn is not None
    world.answer(turn)
    assert world.flush() is None
    conversation = world.bridge.conversations.get(world.chat())
    assert conversation is not None
    assert (conversation.flush_at, conversation.blocked) == (None, False)
    assert world.delivered() == ["hello"]


def test_doorbells_that_come_twice_or_too_late_change_nothing(world: World) -> None:
    world.receive(world.text("hello"))
    turn = opened(world)
    for _ in range(2):
        world.flush()
        reply.generate_reply(world.bridge, turn.id)
        deliver.deliver_reply(world.bridge, turn.id)
    assert world.delivered() == ["hello"]
    assert turn_of(world, world.text("x", message_id=turn.id.rpartition(":")[2])).generate_attempts == 1
