"""The inbox: every message once, however often and by how many it is stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pymongo.database import Database

from tests.store.documents import NOW, row
from tests.support.together import together
from wechat_bridge.model.message import MOVES, InboxState, Item, ItemKind, Quote
from wechat_bridge.store.inbox import InboxStore
from wechat_bridge.store.ledger import Document


@pytest.fixture
def inbox(database: Database[Document]) -> InboxStore:
    """The store under test."""
    return InboxStore(database)


def states(inbox: InboxStore, share_id: str) -> dict[str, str]:
    """The state of every row of a channel, by the last digits of its id."""
    found = inbox.collection.find({"share_id": share_id})
    return {each["message_id"][-3:]: each["state"] for each in found}


def test_a_row_is_read_as_it_was_written(inbox: InboxStore, share_id: str) -> None:
    quote = Quote(message_id="9007199254740993", excerpt_start="a", excerpt_md5="0" * 32)
    items = (
        Item(kind=ItemKind.FILE, label="plan.pdf"),
        Item(kind=ItemKind.TEXT, text="w\u0301y \U0001f469", quote=quote),
    )
    given = row(share_id, 1, items=items, raw='{"message_id":9223372036854775809}', sent_at=NOW, seq=2**62)
    inbox.add([given])
    assert inbox.get(given.id) == given


def test_adding_again_changes_nothing_and_is_no_error(inbox: InboxStore, share_id: str) -> None:
    first = row(share_id, 1)
    assert inbox.add([first]) == {first.id}
    again = first.model_copy(update={"context_token": "another", "trace_id": "another", "epoch": 2})
    other = row(share_id, 2)
    assert inbox.add([again, other]) == {other.id}
    assert inbox.get(first.id) == first


def test_the_same_message_twice_in_one_answer_is_one_row(inbox: InboxStore, share_id: str) -> None:
    given = row(share_id, 1)
    assert inbox.add([given, given]) == {given.id}
    assert states(inbox, share_id) == {"809": "pending"}


@pytest.mark.parametrize("state", list(InboxState))
def test_a_repeat_leaves_a_row_in_whatever_state_it_is(inbox: InboxStore, share_id: str, state: InboxState) -> None:
    given = row(share_id, 1, state=state, turn_id="t", reason="because")
    inbox.add([given])
    assert inbox.add([row(share_id, 1)]) == set()
    assert inbox.get(given.id) == given


def test_the_same_id_on_another_channel_is_another_message(inbox: InboxStore, share_id: str) -> None:
    here, there = row(share_id, 1), row(f"{share_id}-b", 1)
    assert inbox.add([here, there]) == {here.id, there.id}


def test_twenty_deliveries_at_once_make_one_row_each_and_one_of_them_was_first(
    inbox: InboxStore, share_id: str
) -> None:
    rows = [row(share_id, number) for number in range(5)]
    new = together(20, lambda _: inbox.add(rows))
    assert sorted(row_id for found in new for row_id in found) == sorted(each.id for each in rows)
    assert len(states(inbox, share_id)) == 5


def test_a_thousand_messages_stored_while_others_are_worked_on_all_exist(inbox: InboxStore, share_id: str) -> None:
    def store(number: int) -> None:
        for part in range(4):
            rows = [row(share_id, number * 100 + part * 25 + each) for each in range(25)]
            inbox.add(rows)
            inbox.claim([rows[0].id], f"turn-{rows[0].id}")
            inbox.close(f"turn-{rows[0].id}", InboxState.DONE, "")

    together(10, store)
    assert inbox.collection.count_documents({"share_id": share_id}) == 1_000
    assert inbox.collection.count_documents({"share_id": share_id, "state": "done"}) == 40


def test_a_turn_gets_the_waiting_rows_and_only_those(inbox: InboxStore, share_id: str) -> None:
    rows = [row(share_id, number) for number in range(3)]
    inbox.add(rows)
    inbox.claim([rows[1].id], "first")
    owned = inbox.claim([each.id for each in rows], "second")
    assert {each.id for each in owned} == {rows[0].id, rows[2].id}
    assert {each.id for each in inbox.claim([rows[0].id], "second")} == {rows[0].id, rows[2].id}
    assert [each.id for each in inbox.of_turn("first")] == [rows[1].id]


def test_twenty_turns_that_want_one_row_do_not_share_it(inbox: InboxStore, share_id: str) -> None:
    given = row(share_id, 1)
    inbox.add([given])
    owned = together(20, lambda number: inbox.claim([given.id], f"{share_id}-{number}"))
    assert sum(len(each) for each in owned) == 1


@pytest.mark.parametrize("before", list(InboxState))
def test_rows_move_as_they_may_and_not_otherwise(inbox: InboxStore, share_id: str, before: InboxState) -> None:
    given = row(share_id, 1, state=before, turn_id="mine" if before is InboxState.IN_TURN else None)
    for act in (
        lambda: inbox.claim([given.id], "mine"),
        lambda: inbox.close("mine", InboxState.DONE, ""),
        lambda: inbox.close("mine", InboxState.SKIPPED, "x"),
        lambda: inbox.close("mine", InboxState.FAILED, "x"),
        lambda: inbox.skip([given.id], "x"),
        lambda: inbox.fail([given.id], "x"),
    ):
        inbox.collection.delete_many({"share_id": share_id})
        inbox.add([given])
        act()
        after = inbox.get(given.id)
        assert after is not None
        assert after.state is before or after.state in MOVES[before]


def test_a_row_tells_when_each_state_began(inbox: InboxStore, share_id: str) -> None:
    given = row(share_id, 1)
    inbox.add([given])
    inbox.claim([given.id], "t1")
    claimed = inbox.get(given.id)
    inbox.close("t1", InboxState.FAILED, "the engine said no")
    inbox.close("t1", InboxState.DONE, "")
    inbox.claim([given.id], "t1")
    ended = inbox.get(given.id)
    assert claimed is not None
    assert ended is not None
    assert set(claimed.times) == {"in_turn"}
    assert set(ended.times) == {"in_turn", "failed"}
    assert claimed.times["in_turn"] == ended.times["in_turn"] <= ended.times["failed"]
    assert abs((ended.times["failed"] - datetime.now(UTC)).total_seconds()) < 60


def test_closing_tells_the_reason_and_never_reopens(inbox: InboxStore, share_id: str) -> None:
    given = row(share_id, 1)
    inbox.add([given])
    inbox.claim([given.id], "t1")
    inbox.close("t1", InboxState.FAILED, "the engine said no")
    inbox.close("t1", InboxState.DONE, "")
    found = inbox.get(given.id)
    assert found is not None
    assert (found.state, found.reason) == (InboxState.FAILED, "the engine said no")


def test_who_waits_is_found_by_conversation_by_row_and_by_time(inbox: InboxStore, share_id: str) -> None:
    minute, then = timedelta(minutes=1), NOW - timedelta(days=1)
    old = row(share_id, 1, received_at=then - 5 * minute, chat_id=f"{share_id}-old")
    new = row(share_id, 2, received_at=then, chat_id=f"{share_id}-new")
    done = row(share_id, 3, received_at=then, chat_id=f"{share_id}-done", state=InboxState.DONE)
    inbox.add([old, new, done])
    assert inbox.pending(old.chat_id) == [old]
    assert inbox.pending(done.chat_id) == []
    inbox.add([row(share_id, 4, chat_id=old.chat_id)])
    assert inbox.pending(old.chat_id, 1) == [old]
    assert inbox.pending_chats([old.id, done.id]) == {old.chat_id}
    assert inbox.waiting_chats(then - 9 * minute, then - minute) == {old.chat_id}
    assert inbox.waiting_chats(then - minute, then) == {new.chat_id}
