"""End a terminal turn: its rows, itself, then whatever waits behind it. Finished by whoever finds it half done."""

from __future__ import annotations

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.intake import ring_flush
from wechat_bridge.model.message import InboxState
from wechat_bridge.model.turn import Turn, TurnState
from wechat_bridge.observe import metrics

ROWS_AFTER = {
    TurnState.SENT: InboxState.DONE,
    TurnState.SKIPPED: InboxState.DONE,
    TurnState.DEAD: InboxState.FAILED,
}


def close_turn(bridge: Bridge, turn: Turn) -> None:
    """Close a turn in state sent, skipped or dead. Each step is idempotent."""
    if turn.state in (TurnState.DEAD, TurnState.SKIPPED):
        # One that ended before anybody marked its rows would leave them waiting for a turn that exists already.
        bridge.inbox.claim(turn.message_ids, turn.id)
    bridge.inbox.close(turn.id, ROWS_AFTER[turn.state], turn.error or "")
    now = bridge.clock.now()
    bridge.turns.close(turn.id, now)
    metrics.turns_total.labels(turn.state.value).inc()
    if bridge.conversations.unblock(turn.chat_id, now):
        ring_flush(bridge, turn.chat_id, 0.0)
