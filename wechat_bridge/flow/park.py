"""Turns that wait for a person: their next message, or a login."""

from __future__ import annotations

from wechat_bridge.errors import SessionExpired
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.ring import ring_turn
from wechat_bridge.model.turn import Turn, TurnState
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def release_parked(bridge: Bridge, turn: Turn) -> None:
    """A newer message of the person arrived: the reply tries again, unless it waits for a login."""
    if turn.park_reason != SessionExpired.reason:
        _release(bridge, turn.id, releases=1)


def release_after_login(bridge: Bridge, share_id: str) -> None:
    """A login happened: every reply of the channel that waited for it tries again."""
    for turn_id in bridge.turns.parked(share_id, SessionExpired.reason):
        _release(bridge, turn_id, releases=0)


def _release(bridge: Bridge, turn_id: str, releases: int) -> None:
    ring_at = bridge.clock.after(bridge.settings.sweep.ring_again_seconds)
    if not bridge.turns.unpark(turn_id, bridge.clock.now(), ring_at, releases):
        return
    log.info("turn_released", turn_id=turn_id)
    turn = bridge.turns.get(turn_id)
    if turn is not None and turn.state is TurnState.GENERATED:
        ring_turn(bridge, turn)
