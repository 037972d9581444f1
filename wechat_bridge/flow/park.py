"""Turns that wait for a person: their next message, or a login."""

from __future__ import annotations

from wechat_bridge.errors import SessionExpired
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.ring import ring_turn
from wechat_bridge.model.turn import Turn, TurnState
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def release_parked(bridge: Bridge, turn: Turn) -> None:
    """Let a parked turn try again if what it waits for has come: a login, or a message newer than the refusal.

    Each newer message releases it once: it is not tried again for nothing, which WeChat would punish.
    """
    if turn.park_reason == SessionExpired.reason:
        channel = bridge.channels.get(turn.share_id)
        if channel is not None and channel.may_send:
            _release(bridge, turn, releases=0)
        return
    conversation = bridge.conversations.get(turn.chat_id)
    if conversation is not None and conversation.rev > turn.seen_rev:
        _release(bridge, turn, releases=1)


def release_after_login(bridge: Bridge, share_id: str) -> None:
    """A login happened: every reply of the channel that waited for it tries again."""
    for turn_id in bridge.turns.parked(share_id, SessionExpired.reason):
        turn = bridge.turns.get(turn_id)
        if turn is not None:
            _release(bridge, turn, releases=0)


def _release(bridge: Bridge, turn: Turn, releases: int) -> None:
    ring_at = bridge.clock.after(bridge.settings.sweep.ring_again_seconds)
    if bridge.turns.unpark(turn, bridge.clock.now(), ring_at, releases):
        log.info("turn_released", turn_id=turn.id, trace_id=turn.trace_id)
        turn.state = TurnState.GENERATED
        ring_turn(bridge, turn)
