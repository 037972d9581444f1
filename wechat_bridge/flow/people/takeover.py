"""Let a human answer in place of the engine, or nobody at all, and give the conversation back."""

from __future__ import annotations

from datetime import datetime, timedelta

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.stop import stop_turn
from wechat_bridge.model import keys
from wechat_bridge.model.access import Reason
from wechat_bridge.observe import alerts
from wechat_bridge.observe.logging import logger

log = logger(__name__)

CAUSE = "human_wanted"


def want_human(bridge: Bridge, share_id: str, user_id: str, given_at: datetime) -> None:
    """A person asks for a human: the engine is silent, and somebody is told. Raises LedgerUnavailable."""
    take_over(bridge, share_id, user_id, "the person", given_at)
    advice = f'answer with: wechat-bridge send {share_id} {user_id} "..."; end it with: wechat-bridge access bot'
    alerts.raise_(CAUSE, keys.chat_id(share_id, user_id), advice)


def take_over(bridge: Bridge, share_id: str, user_id: str, by: str, given_at: datetime) -> None:
    """Ask the engine nothing more for a person.

    The question in work is dropped, and what they write is kept as skipped; it ends by itself, so that nobody who
    forgets about it leaves a person without an answer for ever. Raises LedgerUnavailable.
    """
    chat_id = keys.chat_id(share_id, user_id)
    until = given_at + timedelta(seconds=bridge.settings.reply.human_seconds)
    bridge.access.decide(share_id, user_id, bridge.clock.now(), human_until=until)
    stop_turn(bridge, chat_id, given_at, Reason.HUMAN.value)
    log.info("taken_over", chat_id=chat_id, by=by)


def hand_back(bridge: Bridge, share_id: str, user_id: str, by: str) -> None:
    """Let the engine answer again what is said from now on. Raises LedgerUnavailable."""
    chat_id = keys.chat_id(share_id, user_id)
    bridge.access.decide(share_id, user_id, bridge.clock.now(), human_until=None)
    log.info("handed_back", chat_id=chat_id, by=by)
    alerts.clear(CAUSE, chat_id)


def mute(bridge: Bridge, share_id: str, user_id: str, by: str) -> None:
    """Answer a person nothing until somebody ends it; the question in work is dropped. Raises LedgerUnavailable."""
    now = bridge.clock.now()
    bridge.access.decide(share_id, user_id, now, muted=True)
    stop_turn(bridge, keys.chat_id(share_id, user_id), now, Reason.MUTED.value)
    log.info("muted", share_id=share_id, user_id=user_id, by=by)


def unmute(bridge: Bridge, share_id: str, user_id: str, by: str) -> None:
    """Answer a person again. Raises LedgerUnavailable."""
    bridge.access.decide(share_id, user_id, bridge.clock.now(), muted=False)
    log.info("unmuted", share_id=share_id, user_id=user_id, by=by)
