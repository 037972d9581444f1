"""Turns that wait for a person: their next message, a login, or an operator who lets their app work again."""

from __future__ import annotations

from collections.abc import Sequence

from wechat_bridge.errors import SessionExpired
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.ring import ring_turn
from wechat_bridge.model.hold import HELD_REASONS
from wechat_bridge.model.turn import Turn, TurnState
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def release_parked(bridge: Bridge, turn: Turn) -> None:
    """Let a parked turn try again if what it waits for has come: a login, an app that works again, or a message
    newer than the refusal.

    Each newer message releases it once: it is not tried again for nothing, which WeChat would punish.
    """
    if turn.park_reason == SessionExpired.reason:
        channel = bridge.channels.get(turn.share_id)
        if channel is not None and channel.may_send:
            release(bridge, turn, releases=0)
        return
    if turn.park_reason in HELD_REASONS:
        channel = bridge.channels.get(turn.share_id)
        if channel is not None and not channel.is_held:
            release(bridge, turn, releases=0)
        return
    conversation = bridge.conversations.get(turn.chat_id)
    if conversation is not None and conversation.rev > turn.seen_rev:
        release(bridge, turn, releases=1)


def release_after_login(bridge: Bridge, share_id: str) -> None:
    """A login happened: every reply of the channel that waited for it tries again."""
    release_all(bridge, bridge.turns.parked(share_id, SessionExpired.reason))


def release_all(bridge: Bridge, turn_ids: Sequence[str]) -> None:
    """Let parked turns try again, whatever they waited for; it counts as no release."""
    for turn_id in turn_ids:
        turn = bridge.turns.get(turn_id)
        if turn is not None:
            release(bridge, turn, releases=0)


def waits_for_operator(reason: str) -> bool:
    """Whether what a turn waits for can come at any time, without anything that the person does."""
    return reason == SessionExpired.reason or reason in HELD_REASONS


def release(bridge: Bridge, turn: Turn, releases: int) -> None:
    """Let a parked turn try again now; ``releases`` is what it counts as. Nothing happens to one that is not parked."""
    ring_at = bridge.clock.after(bridge.settings.sweep.ring_again_seconds)
    if bridge.turns.unpark(turn, bridge.clock.now(), ring_at, releases):
        log.info("turn_released", turn_id=turn.id, trace_id=turn.trace_id)
        turn.state = TurnState.GENERATED
        ring_turn(bridge, turn)
