"""What arrives is durable first, then due, then rung for; whatever fails in between is made good later."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.doorbells import taken
from tests.support.together import together
from tests.support.variations import door, failing, setting, wrapping
from tests.support.world import World
from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable, SendRefused
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.model import keys
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.message import InboxState


def conversation(world: World) -> Conversation:
    """Ann's conversation as it is stored."""
    found = world.bridge.conversations.get(world.chat())
    assert found is not None
    return found


def answer_all(world: World) -> None:
    """Answer everything of ann that waits."""
    world.make_due()
    while (turn := world.flush()) is not None:
        world.answer(turn)
        world.make_due()


def test_a_message_is_a_waiting_row_before_anything_is_rung(world: World) -> None:
    message = world.text("hello")
    states: list[tuple[str, str]] = []

    def ring_flush(*_: object) -> None:
        states.append(world.row_state(message))

    wrapping(world, "doorbells", "ring_flush", ring_flush).receive(message)
    assert states == [("pending", "")]


def test_the_first_arrival_rings_for_the_end_of_the_window_and_the_next_ones_do_not(world: World) -> None:
    world.receive(world.text("one"))
    world.receive(world.text("two"))
    rung = taken(world, "inbox")
    assert [(each.task, each.args) for each in rung] == [("flush_conversation", [world.chat()])]
    assert rung[0].eta is not None


def test_messages_that_cannot_be_answered_are_kept_with_their_reason_and_wake_nobody(world: World) -> None:
    own = world.text("me", state=InboxState.SKIPPED, reason="own message")
    odd = world.text("", state=InboxState.FAILED, reason="unknown item type 99")
    world.receive(own, odd)
    assert world.row_state(own) == ("skipped", "own message")
    assert world.row_state(odd) == ("failed", "unknown item type 99")
    assert world.bridge.conversations.get(world.chat()) is None
    assert taken(world, "inbox") == []


def test_a_repeat_with_another_context_token_is_not_answered_again_and_refills_nothing(world: World) -> None:
    message = world.text("hello")
    world.receive(message)
    answer_all(world)
    before = conversation(world)
    world.receive(message.model_copy(update={"context_token": "another"}))
    answer_all(world)
    assert world.delivered() == ["hello"]
    assert conversation(world) == before
    assert before.sends_left == 9


def test_the_same_words_with_another_id_are_another_message(world: World) -> None:
    world.receive(world.text("ok"))
    answer_all(world)
    world.receive(world.text("ok"))
    answer_all(world)
    assert world.delivered() == ["ok", "ok"]


def test_a_repeat_never_rearms_a_window(world: World) -> None:
    message = world.text("hello")
    world.receive(message)
    before = conversation(world)
    world.receive(message)
    assert conversation(world) == before


def test_twenty_deliveries_of_one_message_at_once_are_answered_once(world: World) -> None:
    message = world.text("hello")
    together(20, lambda _: world.receive(message))
    answer_all(world)
    assert world.delivered() == ["hello"]
    assert conversation(world).sends_left == 9


def test_a_store_that_fails_raises_and_the_next_delivery_is_answered_once(world: World) -> None:
    message = world.text("hello")
    with pytest.raises(LedgerUnavailable):
        failing(world, "inbox", "add", LedgerUnavailable("away")).receive(message)
    world.receive(message)
    answer_all(world)
    assert world.delivered() == ["hello"]


def stored_but_not_due(world: World) -> None:
    """Store a message and die before its conversation is due."""
    with pytest.raises(LedgerUnavailable):
        failing(world, "conversations", "arm", LedgerUnavailable("away")).receive(world.text("hello"))
    assert world.bridge.conversations.get(world.chat()) is None


def test_a_message_stored_by_a_process_that_died_is_answered_when_it_is_delivered_again(world: World) -> None:
    message = world.text("hello")
    with pytest.raises(LedgerUnavailable):
        failing(world, "conversations", "arm", LedgerUnavailable("away")).receive(message)
    world.receive(message)
    assert [each.eta for each in taken(world, "inbox")] == [None]
    answer_all(world)
    assert world.delivered() == ["hello"]
    assert conversation(world).context_token == message.context_token


def age(world: World, seconds: float) -> None:
    """Let the rows of the channel be as old as this."""
    then = world.bridge.clock.now() - timedelta(seconds=seconds)
    world.bridge.inbox.collection.update_many({"share_id": world.share_id}, {"$set": {"received_at": then}})


def test_a_message_stored_by_a_process_that_died_is_answered_after_a_sweep_if_it_is_never_delivered_again(
    world: World,
) -> None:
    stored_but_not_due(world)
    sweeper = Sweeper()
    sweeper.sweep(world.bridge)
    assert taken(world, "inbox") == []  # it may still be on its way: its process has some seconds left
    age(world, 16)
    sweeper.sweep(world.bridge)
    assert len(taken(world, "inbox")) == 1
    answer_all(world)
    assert world.delivered() == ["hello"]


def test_a_message_that_was_left_behind_an_open_turn_is_found_when_that_ends_however_late(world: World) -> None:
    world.receive(world.text("first"))
    world.make_due()
    turn = world.flush()
    assert turn is not None
    with pytest.raises(LedgerUnavailable):
        failing(world, "conversations", "arm", LedgerUnavailable("away")).receive(world.text("second"))
    age(world, 16)
    sweeper = Sweeper()
    sweeper.sweep(world.bridge)
    taken(world, "inbox")
    age(world, 3_600)
    world.answer(turn)
    sweeper.sweep(world.bridge)
    answer_all(world)
    assert world.delivered() == ["first", "second"]


def test_a_message_that_was_left_behind_a_parked_turn_releases_it(world: World) -> None:
    """It is the very message that the parked reply waits for."""
    world.receive(world.text("first"))
    world.make_due()
    turn = world.flush()
    assert turn is not None
    refusing, _ = door(world, *[SendRefused(-2, "prepare failed")] * 2)
    assert refusing.answer(turn).state == "parked"
    with pytest.raises(LedgerUnavailable):
        failing(world, "conversations", "arm", LedgerUnavailable("away")).receive(world.text("second"))
    age(world, 16)
    Sweeper().sweep(world.bridge)
    world.flush()
    assert world.turn(turn.id).state == "generated"


def test_a_doorbell_that_cannot_be_rung_loses_nothing(world: World) -> None:
    quiet = failing(world, "doorbells", "ring_flush", BrokerUnavailable("away"))
    quiet.receive(world.text("hello"))
    assert conversation(world).ring_at is not None  # the sweep's sign
    answer_all(world)
    assert world.delivered() == ["hello"]


def test_a_message_from_the_future_does_not_keep_the_context_of_later_ones(world: World) -> None:
    future = world.bridge.clock.now() + timedelta(hours=8)
    world.receive(world.text("early bird", sent_at=future))
    later = world.text("now", sent_at=world.bridge.clock.now())
    world.receive(later)
    assert conversation(world).context_token == later.context_token


def test_messages_of_one_person_share_a_conversation_and_two_persons_do_not(world: World) -> None:
    world.receive(world.text("a"), world.text("b", name="bob"), world.text("c"))
    assert conversation(world).waiting == 2
    bob = world.bridge.conversations.get(world.chat("bob"))
    assert bob is not None
    assert (bob.waiting, bob.user_id) == (1, world.user("bob"))


def test_without_debouncing_an_answer_is_due_at_once(world: World) -> None:
    setting(world, "debounce", idle_seconds=0.0).receive(world.text("hello"))
    assert [each.eta for each in taken(world, "inbox")] == [None]


def test_ids_beyond_what_a_float_can_hold_stay_apart(world: World) -> None:
    one, two = world.text("a", message_id="9007199254740992"), world.text("b", message_id="9007199254740993")
    world.receive(one, two)
    ids = {row.id for row in world.bridge.inbox.pending(world.chat())}
    assert ids == {keys.inbox_id(world.share_id, each.message_id) for each in (one, two)}
