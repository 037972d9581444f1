"""Turns of which the platform says afterwards that a part was not shown: they wait once more, or are given up."""

from __future__ import annotations

from tests.store.documents import NOW, turn
from tests.store.test_turns import claimed, stored, turns
from wechat_bridge.model.turn import TurnState
from wechat_bridge.store.turns import Opening, TurnStore

__all__ = ["turns"]


def test_a_turn_that_has_ended_waits_once_more_and_nobody_rings_for_it(turns: TurnStore, share_id: str) -> None:
    sent = claimed(turns, share_id)
    turns.finish(sent, TurnState.SENT, NOW, {})
    turns.close(sent.id, NOW)
    found = stored(turns, sent.id)
    assert turns.park_again(found, NOW, {"park_reason": "send_budget"}) is Opening.OPENED
    parked = stored(turns, sent.id)
    assert (parked.state, parked.open, parked.ring_at) == (TurnState.PARKED, True, None)
    assert "closed" not in parked.times
    assert turns.park_again(found, NOW, {}) is Opening.EXISTS, "it has moved on"


def test_it_cannot_wait_while_another_one_is_open(turns: TurnStore, share_id: str) -> None:
    sent = claimed(turns, share_id)
    turns.finish(sent, TurnState.SENT, NOW, {})
    turns.close(sent.id, NOW)
    assert turns.open(turn(share_id, 2)) is Opening.OPENED
    assert turns.park_again(stored(turns, sent.id), NOW, {}) is Opening.BUSY
    assert not stored(turns, sent.id).open


def test_who_is_sending_the_rest_finds_out_that_it_waits(turns: TurnStore, share_id: str) -> None:
    sending = claimed(turns, share_id)
    assert turns.park_again(stored(turns, sending.id), NOW, {}) is Opening.OPENED
    assert not turns.write(sending, {"error": "late"})
