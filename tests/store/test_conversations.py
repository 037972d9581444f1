"""Conversations: when waiting messages are due, which context token answers carry, how many sends are left."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from pymongo.database import Database

from tests.store.documents import NOW, WINDOW, arrival
from tests.support.together import together
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.store.conversations import ConversationStore
from wechat_bridge.store.ledger import Document
from wechat_bridge.store.windows import Window


def after(seconds: float) -> datetime:
    """A time after NOW."""
    return NOW + timedelta(seconds=seconds)


class Chat:
    """One conversation and the store under test."""

    def __init__(self, store: ConversationStore, chat_id: str) -> None:
        self.store = store
        self.id = chat_id

    @property
    def now(self) -> Conversation:
        """The conversation as it is stored."""
        found = self.store.get(self.id)
        assert found is not None
        return found

    def arrive(self, at: float = 0.0, window: Window = WINDOW, **fields: Any) -> float | None:
        """Let a message arrive so many seconds after NOW; return in how many seconds to ring."""
        values: dict[str, Any] = {"received_at": after(at), "sent_at": after(at)} | fields
        return self.store.arm(arrival(self.id, **values), window, after(at))

    def repeat(self, at: float = 0.0, **fields: Any) -> bool:
        """Let a message that waits without a due time arrive again."""
        values: dict[str, Any] = {"received_at": after(at), "sent_at": after(at)} | fields
        return self.store.ensure_due(arrival(self.id, **values), after(at))


@pytest.fixture
def chat(database: Database[Document], share_id: str) -> Chat:
    """A conversation that does not exist yet."""
    return Chat(ConversationStore(database), f"chat-{share_id}")


# when it is due


def test_the_first_message_makes_it_due_after_the_window_and_rings(chat: Chat) -> None:
    assert chat.arrive() == 1.0
    assert (chat.now.flush_at, chat.now.flush_deadline) == (after(1), after(5))
    assert chat.now.ring_at == after(6)  # the sweep's, should the doorbell be lost
    assert (chat.now.waiting, chat.now.rev) == (1, 1)


def test_more_messages_move_the_due_time_and_do_not_ring(chat: Chat) -> None:
    chat.arrive()
    assert chat.arrive(at=0.5) is None
    assert chat.now.flush_at == after(1.5)
    assert (chat.now.waiting, chat.now.rev) == (2, 2)


def test_the_due_time_never_moves_beyond_the_deadline(chat: Chat) -> None:
    chat.arrive()
    for tenth in range(9, 100, 9):
        chat.arrive(at=tenth / 10)
    assert chat.now.flush_at == after(5)
    assert chat.now.ring_at == after(10)


def test_enough_messages_make_it_due_at_once_and_ring(chat: Chat) -> None:
    assert [chat.arrive(at=number / 100) for number in range(20)] == [1.0, *[None] * 18, 0.0]
    assert chat.now.flush_at == after(0.19)


def test_one_answer_with_enough_messages_is_due_at_once(chat: Chat) -> None:
    assert chat.arrive(count=20) == 0.0
    assert chat.now.flush_at == NOW


def test_without_debouncing_it_is_due_at_once(chat: Chat) -> None:
    off = Window(0.0, 0.0, 20)
    assert chat.arrive(window=off) == 0.0
    assert chat.now.flush_at == NOW
    chat.arrive(at=0.3, window=off)
    assert chat.now.flush_at == NOW


def test_after_a_flush_the_next_message_begins_a_new_window(chat: Chat) -> None:
    chat.arrive()
    assert chat.store.clear_due(chat.id, chat.now.rev)
    assert (chat.now.flush_at, chat.now.ring_at, chat.now.waiting) == (None, None, 0)
    assert chat.arrive(at=60) == 1.0
    assert (chat.now.flush_at, chat.now.waiting) == (after(61), 1)


def test_a_flush_clears_nothing_that_arrived_since_it_looked(chat: Chat) -> None:
    chat.arrive()
    seen = chat.now.rev
    chat.arrive(at=0.5)
    assert not chat.store.clear_due(chat.id, seen)
    assert chat.now.flush_at == after(1.5)


def test_behind_an_open_turn_messages_wait_until_it_ends(chat: Chat) -> None:
    chat.arrive()
    chat.store.block(chat.id, after(15))
    assert (chat.now.blocked, chat.now.flush_at, chat.now.ring_at) == (True, after(15), after(20))
    assert chat.store.unblock(chat.id, after(3))
    assert chat.now.flush_at == after(3)


def test_nothing_is_blocked_or_unblocked_where_nothing_waits(chat: Chat) -> None:
    chat.arrive()
    chat.store.clear_due(chat.id, chat.now.rev)
    chat.store.block(chat.id, after(15))
    assert (chat.now.blocked, chat.now.flush_at) == (False, None)
    assert not chat.store.unblock(chat.id, after(3))
    assert chat.now.flush_at is None


def test_what_has_arrived_since_somebody_looked_is_not_blocked(chat: Chat) -> None:
    chat.arrive()
    assert chat.store.block(chat.id, after(15), rev=1)
    chat.arrive(at=1.0)
    assert not chat.store.block(chat.id, after(15), rev=1)
    assert chat.now.flush_at != after(15)


def test_an_overflow_has_one_row_until_nothing_waits(chat: Chat) -> None:
    chat.arrive()
    rows = together(10, lambda number: chat.store.begin_overflow(chat.id, f"row-{number}"))
    assert set(rows) == {chat.now.overflow_row}
    chat.store.clear_due(chat.id, chat.now.rev)
    assert chat.store.begin_overflow(chat.id, "row-later") == "row-later"


def test_the_first_message_behind_an_open_turn_rings_the_next_ones_do_not(chat: Chat) -> None:
    """The open turn may be parked and wait for this very message; the time to look again is too late for that."""
    chat.arrive()
    chat.store.block(chat.id, after(15))
    assert chat.arrive(at=2) == 1.0
    assert chat.now.flush_at == after(3)
    assert chat.arrive(at=2.5) is None
    assert chat.now.blocked


def test_twenty_first_messages_of_a_new_person_make_one_conversation_and_one_doorbell(chat: Chat) -> None:
    rings = together(20, lambda number: chat.arrive(at=number / 1000, window=Window(1.0, 5.0, 100)))
    assert [ring for ring in rings if ring is not None] == [1.0]
    assert (chat.now.waiting, chat.now.rev) == (20, 20)


def test_the_sweep_sees_the_longest_overdue_first_and_thins_out(chat: Chat) -> None:
    other = Chat(chat.store, f"{chat.id}-b")
    other.arrive(at=-1_000)
    chat.arrive(at=-2_000)
    due = [each["_id"] for each in chat.store.overdue(after(-900), 10)]
    assert due == [chat.id, other.id]
    assert [each["_id"] for each in chat.store.overdue(after(-900), 1)] == [chat.id]
    assert chat.store.overdue(after(-900), 0) == []
    chat.store.rang(chat.id, after(-100))
    other.store.clear_due(other.id, other.now.rev)
    assert chat.store.overdue(after(-900), 10) == []
    assert chat.now.rings == 1
    assert chat.store.due_among([chat.id, other.id, "nobody"]) == {chat.id}


# context token and budget


def test_a_newer_message_brings_its_context_token_and_a_full_budget(chat: Chat) -> None:
    chat.arrive(context_token="old", sends=10)
    assert all(chat.store.take_send(chat.id, "old") for _ in range(10))
    assert not chat.store.take_send(chat.id, "old")
    chat.arrive(at=1, context_token="new", sends=10)
    assert (chat.now.context_token, chat.now.sends_left) == ("new", 10)
    assert chat.store.take_send(chat.id, "new")
    assert not chat.store.take_send(chat.id, "old")
    assert chat.now.sends_left == 9


def test_an_older_message_that_comes_late_waits_but_takes_nothing_over(chat: Chat) -> None:
    chat.arrive(at=10, context_token="new", sends=10)
    chat.store.take_send(chat.id, "new")
    chat.arrive(at=11, sent_at=after(9), context_token="old", sends=10)
    assert (chat.now.context_token, chat.now.sends_left, chat.now.waiting) == ("new", 9, 2)


def test_a_message_of_a_newer_login_takes_over_however_old_it_is(chat: Chat) -> None:
    chat.arrive(at=10, context_token="first login", epoch=1)
    chat.arrive(at=11, sent_at=after(-60), context_token="second login", epoch=2)
    assert (chat.now.context_token, chat.now.context_epoch, chat.now.sends_left) == ("second login", 2, 10)


def test_a_message_of_an_older_login_takes_nothing_over(chat: Chat) -> None:
    chat.arrive(at=10, context_token="second login", epoch=2)
    chat.arrive(at=11, context_token="first login", epoch=1)
    assert (chat.now.context_token, chat.now.context_epoch) == ("second login", 2)


def test_a_repeat_that_waits_without_a_due_time_gets_one_and_no_new_budget(chat: Chat) -> None:
    chat.arrive(context_token="ctx")
    chat.store.clear_due(chat.id, chat.now.rev)
    chat.store.take_send(chat.id, "ctx")
    assert chat.repeat(at=0, context_token="ctx again")
    assert chat.now.flush_at == NOW
    assert (chat.now.context_token, chat.now.sends_left) == ("ctx", 9)


def test_a_repeat_never_moves_a_due_time(chat: Chat) -> None:
    chat.arrive()
    before = chat.now
    assert not chat.repeat(at=0.5)
    assert chat.now == before


def test_a_message_whose_process_died_before_it_was_due_brings_its_budget_with_the_repeat(chat: Chat) -> None:
    assert chat.repeat(context_token="ctx", sends=10)
    assert (chat.now.context_token, chat.now.sends_left, chat.now.flush_at) == ("ctx", 10, NOW)


def test_twenty_senders_share_ten_sends(chat: Chat) -> None:
    chat.arrive(context_token="ctx", sends=10)
    taken = together(20, lambda _: chat.store.take_send(chat.id, "ctx"))
    assert sum(taken) == 10
    assert chat.now.sends_left == 0


def test_a_budget_that_the_platform_says_is_used_up_is_until_the_next_message(chat: Chat) -> None:
    chat.arrive(context_token="ctx", sends=5)
    before = chat.now.rev
    chat.store.exhaust(chat.id, before)
    assert not chat.store.take_send(chat.id, "ctx")
    chat.arrive(at=1, context_token="ctx", sends=5)
    chat.store.exhaust(chat.id, before)
    assert chat.now.sends_left == 5, "this one came after the platform said so"


def test_what_a_platform_sends_is_text_whatever_it_looks_like(chat: Chat) -> None:
    chat.arrive(user_id="$rev", share_id="$", context_token="$context_token")
    assert (chat.now.user_id, chat.now.share_id, chat.now.context_token) == ("$rev", "$", "$context_token")
