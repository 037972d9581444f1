"""End the open question of a conversation, wherever it stands."""

from __future__ import annotations

from datetime import datetime

from wechat_bridge.flow.close import close_turn
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.turn import TERMINAL, Turn, TurnState

RACES = 5
"""A turn moves on while it is being ended; each move is one more try."""


def stop_turn(bridge: Bridge, chat_id: str, given_at: datetime, reason: str) -> bool:
    """End the question that was open at ``given_at``, whatever its worker is just doing: what it finds out is refused.

    False when there is none. Raises LedgerUnavailable.
    """
    for _ in range(RACES):
        turn = bridge.turns.open_of(chat_id)
        if turn is None or turn.state in TERMINAL or turn.times.get(TurnState.QUEUED.value, given_at) > given_at:
            return False
        if end_turn(bridge, turn, reason):
            return True
    return False


def end_turn(bridge: Bridge, turn: Turn, reason: str) -> bool:
    """End an open turn as it was read, whoever works on it; False when it has moved on. Raises LedgerUnavailable."""
    if not bridge.turns.stop(turn, bridge.clock.now(), reason):
        return False
    turn.state, turn.error = TurnState.SKIPPED, reason
    close_turn(bridge, turn)
    return True
