"""The spill: what could not be stored, kept in Redis in order until it is durable in the ledger."""

from __future__ import annotations

import json

import pytest

from tests.store.documents import NOW, row
from tests.support.together import together
from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.model.message import Item, ItemKind, Quote
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.spill import MOST_BATCHES, Spill


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
    batch, rows = spill.peek(share_id) or ([], [])
    assert rows == first
    spill.drop(share_id, batch)
    batch, rows = spill.peek(share_id) or ([], [])
    assert rows == second
    spill.drop(share_id, batch)
    assert spill.peek(share_id) is None


def test_looking_removes_nothing(spill: Spill, share_id: str) -> None:
    spill.put(share_id, [row(share_id, 1)])
    assert spill.peek(share_id) == spill.peek(share_id)


def test_dropping_twice_drops_once(spill: Spill, share_id: str) -> None:
    spill.put(share_id, [row(share_id, 1)])
    spill.put(share_id, [row(share_id, 2)])
    batch, _ = spill.peek(share_id) or ([], [])
    spill.drop(share_id, batch)
    spill.drop(share_id, batch)
    _, rows = spill.peek(share_id) or ([], [])
    assert rows[0].message_id == row(share_id, 2).message_id


def test_channels_with_a_spill_are_known_until_it_is_drained(spill: Spill, share_id: str) -> None:
    assert share_id not in spill.channels()
    spill.put(share_id, [row(share_id, 1)])
    assert share_id in spill.channels()
    spill.forget_if_empty(share_id)
    assert share_id in spill.channels()
    batch, _ = spill.peek(share_id) or ([], [])
    spill.drop(share_id, batch)
    spill.forget_if_empty(share_id)
    assert share_id not in spill.channels()


def test_a_full_spill_refuses_and_keeps_what_it_has(redis_client: RedisClient, share_id: str) -> None:
    small = Spill(redis_client, most_batches=2)
    small.put(share_id, [row(share_id, 1)])
    small.put(share_id, [row(share_id, 2)])
    with pytest.raises(BrokerUnavailable, match=f"spill of channel {share_id} is full"):
        small.put(share_id, [row(share_id, 3)])
    _, rows = small.peek(share_id) or ([], [])
    assert [each.message_id for each in rows] == [row(share_id, 1).message_id]


def test_ten_thousand_callbacks_of_a_channel_find_room(spill: Spill, redis_client: RedisClient, share_id: str) -> None:
    batch = json.dumps([row(share_id, 1).model_dump(mode="json")])
    redis_client.rpush(redis_keys.spill(share_id), *[batch] * (MOST_BATCHES - 1))
    spill.put(share_id, [row(share_id, 2)])
    with pytest.raises(BrokerUnavailable, match="full"):
        spill.put(share_id, [row(share_id, 3)])


@pytest.mark.parametrize("of_all", [False, True])
def test_room_is_counted_in_bytes_too_and_is_free_again_when_they_are_stored(
    redis_client: RedisClient, share_id: str, of_all: bool
) -> None:
    rows = [[row(share_id, number, raw="x" * 1_000)] for number in range(3)]
    size = len(json.dumps([rows[0][0].model_dump(mode="json")]))
    limits = {"most_bytes": 5 * size // 2} if of_all else {"most_channel_bytes": 5 * size // 2}
    small = Spill(redis_client, **limits)
    redis_client.delete(redis_keys.SPILL_BYTES)  # what other tests left
    small.put(share_id, rows[0])
    small.put(f"{share_id}-other" if of_all else share_id, rows[1])
    with pytest.raises(BrokerUnavailable, match="full"):
        small.put(share_id, rows[2])
    batch, _ = small.peek(share_id) or ([], [])
    small.drop(share_id, batch)
    small.drop(share_id, batch)
    small.put(share_id, rows[2])
    with pytest.raises(BrokerUnavailable, match="full"):
        small.put(share_id, rows[0])


def test_nothing_is_left_in_redis_of_what_was_stored(redis_client: RedisClient, share_id: str) -> None:
    spill = Spill(redis_client)
    for number in range(3):
        spill.put(share_id, [row(share_id, number)])
    batches, rows = spill.peek(share_id, most=2) or ([], [])
    assert (len(batches), [each.message_id for each in rows]) == (2, [str(2**63), str(2**63 + 1)])
    spill.drop(share_id, batches)
    batches, rows = spill.peek(share_id, most=2) or ([], [])
    assert (len(batches), rows[0].message_id) == (1, str(2**63 + 2))
    spill.drop(share_id, batches)
    assert redis_client.hget(redis_keys.SPILL_BYTES, share_id) is None


def test_twenty_writers_lose_nothing(spill: Spill, share_id: str) -> None:
    together(20, lambda number: spill.put(share_id, [row(share_id, number)]))
    found = set()
    while (batch := spill.peek(share_id)) is not None:
        found.add(batch[1][0].message_id)
        spill.drop(share_id, batch[0])
    assert len(found) == 20
