"""Let a human answer in place of the engine, or nobody at all, and give the conversation back."""

from __future__ import annotations

from datetime import datetime, timedelta

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.customer_service.session import Words, to_bot, to_humans
from wechat_bridge.flow.stop import stop_turn
from wechat_bridge.model import keys
from wechat_bridge.model.access import Reason
from wechat_bridge.model.wecom_kf import SessionState
from wechat_bridge.observe import alerts
from wechat_bridge.observe.logging import logger

log = logger(__name__)

CAUSE = "human_wanted"

LONGEST_SESSION = timedelta(days=7)
"""WeCom ends every session with a human and says so; this is for the case that it does not."""


def want_human(bridge: Bridge, share_id: str, user_id: str, given_at: datetime, words: Words) -> bool:
    """A person asks for a human: the engine is silent, and somebody is told. Raises LedgerUnavailable.

    Returns whether the person may still be written to; where not, they were told with ``words``.
    """
    by_hand = take_over(bridge, share_id, user_id, "the person", given_at, words)
    answer = f'answer with: wechat-bridge send {share_id} {user_id} "..."' if by_hand else "answer in WeCom's client"
    alerts.raise_(CAUSE, keys.chat_id(share_id, user_id), f"{answer}; end it with: wechat-bridge access bot")
    return by_hand


def take_over(
    bridge: Bridge, share_id: str, user_id: str, by: str, given_at: datetime, words: Words | None = None
) -> bool:
    """Ask the engine nothing more for a person; their session, if they have one, goes to the company's people.

    It ends by itself, so that nobody who forgets about it leaves a person without an answer for ever. Returns whether
    the bridge may still write to them. Raises LedgerUnavailable.
    """
    until = given_at + timedelta(seconds=bridge.settings.reply.human_seconds)
    human_serves(bridge, share_id, user_id, by, until, given_at)
    state = to_humans(bridge, share_id, user_id, words)
    if state is None or not state.is_with_humans:
        return True
    bridge.access.keep_human(keys.chat_id(share_id, user_id), given_at + LONGEST_SESSION)
    return False


def human_serves(bridge: Bridge, share_id: str, user_id: str, by: str, until: datetime, given_at: datetime) -> None:
    """A human answers ``until`` then: the question in work is dropped, what the person writes is kept as skipped.

    Raises LedgerUnavailable.
    """
    chat_id = keys.chat_id(share_id, user_id)
    bridge.access.decide(share_id, user_id, bridge.clock.now(), human_until=until)
    stop_turn(bridge, chat_id, given_at, Reason.HUMAN.value)
    log.info("taken_over", chat_id=chat_id, by=by)


def hand_back(bridge: Bridge, share_id: str, user_id: str, by: str, words: Words | None = None) -> bool:
    """Let the engine answer again what is said from now on; a session at the company's people is ended.

    Where WeCom does not let go of it, nothing changes. Returns whether the bridge may still write to the person now;
    where not, they were told with ``words``. Raises LedgerUnavailable.
    """
    state = to_bot(bridge, share_id, user_id, words)
    if state is not None and state.is_with_humans:
        return False
    bot_serves(bridge, share_id, user_id, by)
    return state is not SessionState.ENDED


def bot_serves(bridge: Bridge, share_id: str, user_id: str, by: str) -> None:
    """The engine answers again what is said from now on. Raises LedgerUnavailable."""
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
