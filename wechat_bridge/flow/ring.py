"""Ring for a turn according to its state."""

from __future__ import annotations

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.turn import Turn, TurnState
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def ring_turn(bridge: Bridge, turn: Turn, delay_seconds: float = 0.0) -> None:
    """Ring the task that a waiting turn needs. A lost doorbell costs seconds: the sweep sees the turn in the ledger."""
    try:
        if turn.state is TurnState.QUEUED:
            bridge.doorbells.ring_reply(turn.id, delay_seconds)
        elif turn.state is TurnState.GENERATED:
            bridge.doorbells.ring_deliver(turn.id, delay_seconds)
        elif turn.state is TurnState.DEAD:
            bridge.doorbells.ring_dead_letter(turn.id)
    except BrokerUnavailable as error:
        log.warning("ring_failed", turn_id=turn.id, error=str(error))
