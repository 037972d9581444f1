"""Move the session of a customer at WeCom: to the company's people, or away from them.

Where WeCom refuses, or does not answer, the bridge's own silence holds and somebody is told.
"""

from __future__ import annotations

from dataclasses import dataclass

from wechat_bridge.errors import BridgeError, LedgerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.wecom.app import app_of
from wechat_bridge.model.channel import Channel, ChannelKind
from wechat_bridge.model.wecom_kf import KfAccount, KfSettings, SessionState
from wechat_bridge.observe import alerts
from wechat_bridge.observe.logging import logger

log = logger(__name__)

NOT_MOVED = "session_not_moved"


@dataclass(frozen=True)
class Words:
    """What the customer is told of it, once under the same ``client_id``."""

    text: str
    client_id: str


@dataclass(frozen=True)
class _Session:
    bridge: Bridge
    channel: Channel
    account: KfAccount
    settings: KfSettings
    user_id: str


def to_humans(bridge: Bridge, share_id: str, user_id: str, words: Words | None = None) -> SessionState | None:
    """Give a customer to the company's people; return who has them now, None where the bridge does not know or care.

    Nothing happens on a channel of another kind, or one that moves no sessions. Raises LedgerUnavailable.
    """
    return _moved(bridge, share_id, user_id, words, is_to_humans=True)


def to_bot(bridge: Bridge, share_id: str, user_id: str, words: Words | None = None) -> SessionState | None:
    """Take a customer from the company's people; return who has them now, None as above. Raises LedgerUnavailable.

    WeCom gives no session back to an app, so it is ended: the customer's next message begins one of the app's.
    """
    return _moved(bridge, share_id, user_id, words, is_to_humans=False)


def _moved(
    bridge: Bridge, share_id: str, user_id: str, words: Words | None, *, is_to_humans: bool
) -> SessionState | None:
    try:
        session = _session(bridge, share_id, user_id)
        if session is None:
            return None
        state = bridge.customer_service.session_state(session.account, user_id)
    except LedgerUnavailable:
        raise
    except BridgeError as error:
        _tell(share_id, user_id, error)
        return None
    if state.is_with_humans is is_to_humans or (state is SessionState.ENDED and not is_to_humans):
        return state  # it is so, perhaps because a process moved it that died before it could say so
    return _move(session, state, _wanted(session, is_to_humans=is_to_humans), words)


def _session(bridge: Bridge, share_id: str, user_id: str) -> _Session | None:
    channel = bridge.channels.get(share_id)
    if channel is None or channel.kind is not ChannelKind.WECOM_KF:
        return None
    settings, account = app_of(bridge, channel)
    assert isinstance(settings, KfSettings)
    assert isinstance(account, KfAccount)
    return _Session(bridge, channel, account, settings, user_id) if settings.moves_sessions else None


def _wanted(session: _Session, *, is_to_humans: bool) -> SessionState:
    if not is_to_humans:
        return SessionState.ENDED
    return SessionState.HUMAN if session.settings.servicer_userid else SessionState.QUEUE


def _move(session: _Session, state: SessionState, wanted: SessionState, words: Words | None) -> SessionState:
    door, share_id, user_id = session.bridge.customer_service, session.channel.id, session.user_id
    servicer = session.settings.servicer_userid if wanted is SessionState.HUMAN else ""
    try:
        code = door.move_session(session.account, user_id, wanted, servicer)
    except BridgeError as error:
        _tell(share_id, user_id, error)
        return state
    alerts.clear(NOT_MOVED, share_id)
    log.info("session_moved", share_id=share_id, user_id=user_id, before=state.name, after=wanted.name)
    if words is not None and code:
        _say(session, code, words)
    return wanted


def _say(session: _Session, code: str, words: Words) -> None:
    """Say it by the code of the change: no other way is open any more."""
    try:
        session.bridge.customer_service.send_on_event(session.account, code, words.text, words.client_id)
    except BridgeError as error:
        log.warning("move_not_told", share_id=session.channel.id, user_id=session.user_id, error=str(error))


def _tell(share_id: str, user_id: str, error: BridgeError) -> None:
    advice = (
        f"the session of {user_id} is not moved at WeCom: {error}. Whether the bridge is silent is as you decided; "
        f'answer with: wechat-bridge send {share_id} {user_id} "..."'
    )
    alerts.raise_(NOT_MOVED, share_id, advice)
