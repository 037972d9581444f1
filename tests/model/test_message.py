"""Inbound messages: the row under which one is kept, their order, and the moves a row may make."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from wechat_bridge.model.message import MOVES, InboundMessage, InboxState, Item, ItemKind, Quote, in_order, inbox_row

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def message(number: int, **fields: object) -> InboundMessage:
    """A message with an id beyond 2^63."""
    return InboundMessage.model_validate({"message_id": str(2**63 + number), "user_id": "ann"} | fields)


def ordered(*messages: InboundMessage) -> list[int]:
    """In which order messages that came in one answer are merged."""
    rows = [inbox_row(each, "shop", 1, NOW, "poll") for each in messages]
    return [int(row.message_id) - 2**63 for row in in_order(rows)]


def test_a_row_keeps_everything_and_its_id_digit_by_digit() -> None:
    items = (Item(kind=ItemKind.TEXT, text="why?", quote=Quote(message_id="9007199254740993", end_index=2)),)
    given = message(1, items=items, context_token="ctx", seq=5, sent_at=NOW, raw='{"message_id":1}', reason="")
    row = inbox_row(given, "shop", 3, NOW, "poll")
    assert (row.id, row.chat_id) == (f"shop:{2**63 + 1}", "wechat_shop_ann")
    assert (row.items, row.context_token, row.raw, row.seq) == (items, "ctx", '{"message_id":1}', 5)
    assert (row.epoch, row.source, row.state, row.turn_id) == (3, "poll", InboxState.PENDING, None)


def test_rows_are_merged_as_the_person_sent_them_not_as_they_arrived() -> None:
    early, late = NOW - timedelta(seconds=9), NOW - timedelta(seconds=1)
    assert ordered(message(2, sent_at=late), message(1, sent_at=early)) == [1, 2]
    assert ordered(message(2, sent_at=late, seq=2), message(3, sent_at=late, seq=1)) == [3, 2]
    assert ordered(message(2), message(1)) == [1, 2]


def test_a_message_from_the_future_does_not_stand_behind_what_came_later() -> None:
    rows = [
        inbox_row(message(1, sent_at=NOW + timedelta(hours=8)), "shop", 1, NOW, "poll"),
        inbox_row(message(2, sent_at=NOW + timedelta(seconds=2)), "shop", 1, NOW + timedelta(seconds=3), "poll"),
    ]
    assert [int(row.message_id) - 2**63 for row in in_order(rows)] == [1, 2]


def test_a_row_ends_once_and_never_waits_again() -> None:
    ends = {InboxState.DONE, InboxState.SKIPPED, InboxState.FAILED}
    assert MOVES[InboxState.PENDING] == {InboxState.IN_TURN, InboxState.SKIPPED, InboxState.FAILED}
    assert MOVES[InboxState.IN_TURN] == ends
    assert all(not MOVES[end] for end in ends)
    assert set(MOVES) == set(InboxState)
