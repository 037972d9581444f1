"""The spill: what could not be stored, kept in Redis in order until it is durable in the ledger."""

from __future__ import annotations

import pytest

from tests.store.documents import NOW, row
from tests.support.together import together
from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.model.message import Item, ItemKind, Quote
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.spill import Spill


@pytest.fixture
def spill(redis_client: RedisClient) -> Spill:
    """The store under test."""
    return Spill(redis_client)


def test_rows_come_back_as_they_went_in_oldest_batch_first(spill: Spill, share_id: str) -> None:
    quote = Quote(message_id=str(2**63 + 5), end_index=3)
    items = (Item(kind=ItemKind.TEXT, text="答 \U0001f469\u200d\U0001f467", quote=quote),)
    first = [row(share_id, 1, items=items, sent_at=NOW, seq=2**62), row(share_id, 2)]
    second = [row(share_id, 3)]
    spill.put(share_id, first)
    spill.put(share_id, second)
    batch, rows = spill.peek(share_id) or ("", [])
    assert rows == first
    spill.drop(share_id, batch)
    batch, rows = spill.peek(share_id) or ("", [])
    assert rows == second
    spill.drop(share_id, batch)
    assert spill.peek(share_id) is None


def test_looking_removes_nothing(spill: Spill, share_id: str) -> None:
    spill.put(share_id, [row(share_id, 1)])
    assert spill.peek(share_id) == spill.peek(share_id)


def test_dropping_twice_drops_once(spill: Spill, share_id: str) -> None:
    spill.put(share_id, [row(share_id, 1)])
    spill.put(share_id, [row(share_id, 2)])
    batch, _ = spill.peek(share_id) or ("", [])
    spill.drop(share_id, batch)
    spill.drop(share_id, batch)
    _, rows = spill.peek(share_id) or ("", [])
    assert rows[0].message_id == row(share_id, 2).message_id


def test_channels_with_a_spill_are_known_until_it_is_drained(spill: Spill, share_id: str) -> None:
    assert share_id not in spill.channels()
    spill.put(share_id, [row(share_id, 1)])
    assert share_id in spill.channels()
    spill.forget_if_empty(share_id)
    assert share_id in spill.channels()
    batch, _ = spill.peek(share_id) or ("", [])
    spill.drop(share_id, batch)
    spill.forget_if_empty(share_id)
    assert share_id not in spill.channels()


def test_a_full_spill_refuses_and_keeps_what_it_has(redis_client: RedisClient, share_id: str) -> None:
    small = Spill(redis_client, most_batches=2)
    small.put(share_id, [row(share_id, 1)])
    small.put(share_id, [row(share_id, 2)])
    with pytest.raises(BrokerUnavailable, match=f"spill of channel {share_id} is full"):
        small.put(share_id, [row(share_id, 3)])
    _, rows = small.peek(share_id) or ("", [])
    assert [each.message_id for each in rows] == [row(share_id, 1).message_id]


def test_twenty_writers_lose_nothing(spill: Spill, share_id: str) -> None:
    together(20, lambda number: spill.put(share_id, [row(share_id, number)]))
    found = set()
    while (batch := spill.peek(share_id)) is not None:
        found.add(batch[1][0].message_id)
        spill.drop(share_id, batch[0])
    assert len(found) == 20
