"""Follow a QR login one step at a time: fetch a code, or ask once what became of it.

Each step is a Celery task that chains the next. The login stands in Redis with the number of its step: a doorbell that
comes twice finds another number, and one that is lost is rung again by the sweep.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from wechat_bridge.channels.login import LoginDoor
from wechat_bridge.errors import (
    BrokerUnavailable,
    ChannelUnknown,
    NotConfigured,
    PermanentError,
    PlatformUnavailable,
    TransientError,
)
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.login.logged_in import complete_login
from wechat_bridge.model.channel import Channel, Login
from wechat_bridge.model.login import Move, QrLogin, after_status, done, failed, unanswered, with_code, without_code
from wechat_bridge.model.login_hosts import may_use, redirect_url
from wechat_bridge.observe.logging import logger

log = logger(__name__)

FETCH_STEP_SECONDS = 25.0
PATIENT_STEP_SECONDS = 60.0
QUESTION_SLACK_SECONDS = 10.0
"""A step that takes longer (a question: its hold and this) has lost its worker."""

DOORBELL_SECONDS = 5.0
"""How much later than it should a doorbell may come before the sweep rings."""

LONGEST_PAUSE_SECONDS = 6.0
"""A login whose next step may begin later than this is in the middle of one."""

LAST_SECONDS = 5.0
BUSY_SECONDS = 1.0


def follow_login(bridge: Bridge, share_id: str, login_id: str, step: int) -> None:
    """Answer the doorbell of a step, and ring for the next one. Not too many at once: other tasks want threads too."""
    if not bridge.login_slots.acquire(blocking=False):
        bridge.logins.rang(share_id, bridge.clock.after(BUSY_SECONDS + DOORBELL_SECONDS))
        bridge.doorbells.ring_login(share_id, login_id, step, BUSY_SECONDS)
        return
    try:
        stored = take_step(bridge, share_id, login_id, step)
    finally:
        bridge.login_slots.release()
    if stored is not None:
        chain_next_step(bridge, stored)


def chain_next_step(bridge: Bridge, login: QrLogin) -> None:
    """Ring for the next step of a login, unless it has ended, for when it may begin. If Redis refuses, the sweep rings.

    While a step is being done there is nothing to ring for: it would be done twice, and the first answer thrown away.
    """
    delay = max(0.0, (login.next_at - bridge.clock.now()).total_seconds())
    if login.has_ended or delay > LONGEST_PAUSE_SECONDS:
        return
    try:
        bridge.doorbells.ring_login(login.share_id, login.id, login.step, delay)
    except BrokerUnavailable as error:
        log.warning("ring_failed", share_id=login.share_id, error=str(error))


def ring_overdue_logins(bridge: Bridge) -> None:
    """Ring for the logins whose next step should have begun: their worker, or their doorbell, was lost."""
    room = bridge.settings.sweep.ceiling - bridge.doorbells.waiting("management")
    for login in bridge.logins.overdue(bridge.clock.now(), room):
        bridge.logins.rang(login.share_id, bridge.clock.after(bridge.settings.sweep.ring_again_seconds))
        chain_next_step(bridge, login)


def take_step(bridge: Bridge, share_id: str, login_id: str, step: int) -> QrLogin | None:
    """Do a step; return the login as it stands then, with the time of its next step, or None when it is not to be had.

    Raises BrokerUnavailable and LedgerUnavailable; what was done is done again by the next step.
    """
    taken = _take(bridge, share_id, login_id, step)
    move = _move(bridge, taken) if taken is not None else None
    if taken is None or move is None:
        return None
    delay = move.delay_seconds
    ring_at = bridge.clock.after(delay + DOORBELL_SECONDS)
    stored = bridge.logins.write(taken, move.login, bridge.clock.after(delay), ring_at)
    if stored is not None and stored.phase is not taken.phase:
        log.info("login_moved", share_id=share_id, login_id=login_id, phase=stored.phase.value, note=stored.note)
    return stored


def _take(bridge: Bridge, share_id: str, login_id: str, step: int) -> QrLogin | None:
    known = bridge.logins.get(share_id)
    if known is None or (known.id, known.step) != (login_id, step):
        return None
    return bridge.logins.take(share_id, login_id, step, bridge.clock.after(_longest_seconds(bridge, known)))


def _longest_seconds(bridge: Bridge, login: QrLogin) -> float:
    if not login.qrcode:
        return FETCH_STEP_SECONDS
    question = bridge.settings.login.question_seconds + QUESTION_SLACK_SECONDS
    return PATIENT_STEP_SECONDS if login.is_patient else question


def _move(bridge: Bridge, login: QrLogin) -> Move | None:
    left = (login.ends_at - bridge.clock.now()).total_seconds()
    if left < LAST_SECONDS + bridge.settings.login.question_seconds:
        minutes = bridge.settings.login.whole_seconds / 60
        return failed(login, f"nobody confirmed within {minutes:.0f} minutes; start a new login")
    channel = bridge.channels.get(login.share_id)
    if channel is None:
        return failed(login, f"channel {login.share_id} was removed meanwhile")
    if not login.qrcode:
        return _fetch(bridge, channel, login)
    return _ask(bridge, channel, login, is_patient=login.is_patient and left > PATIENT_STEP_SECONDS)


def _fetch(bridge: Bridge, channel: Channel, login: QrLogin) -> Move:
    tokens = [token for _, token in sorted(_other_tokens(bridge, login), reverse=True)]
    try:
        return with_code(login, login_door(bridge, channel).fetch_code(tokens, login.api_base))
    except PlatformUnavailable as error:
        return without_code(login, str(error))


def _ask(bridge: Bridge, channel: Channel, login: QrLogin, is_patient: bool) -> Move | None:
    door = login_door(bridge, channel)
    try:
        answer = door.ask(login.qrcode, login.number, login.base_url, login.api_base, is_patient=is_patient)
    except PlatformUnavailable as error:
        return unanswered(login, str(error))
    if answer.login is not None:
        return _confirmed(bridge, login, answer.login)
    hosts = bridge.settings.login.allowed_hosts
    return after_status(login, answer, redirect_url(answer.redirect_host, login.api_base, hosts))


def _confirmed(bridge: Bridge, login: QrLogin, confirmed: Login) -> Move | None:
    """Store the account first, then say so: a worker that dies in between leaves a step that does it again."""
    base_url = confirmed.account.base_url
    if not may_use(base_url, login.api_base, bridge.settings.login.allowed_hosts):
        host = urlsplit(base_url).netloc.rpartition("@")[2][:100]
        return failed(login, f"WeChat names {host!r} as the account's address; add it to WECHAT_BRIDGE_LOGIN__HOSTS")
    current = bridge.logins.get(login.share_id)
    if current is None or (current.id, current.step) != (login.id, login.step):
        return None  # this process was frozen; by now there may be a newer login
    try:
        complete_login(bridge, login.share_id, confirmed)
    except TransientError as error:
        return unanswered(login, str(error))
    except PermanentError as error:
        return failed(login, str(error))
    return done(login)


def login_door(bridge: Bridge, channel: Channel) -> LoginDoor:
    """Return the door through which a channel is logged in. Raises NotConfigured when its platform has no QR login."""
    door = bridge.login_doors.get(channel.kind)
    if door is None:
        raise NotConfigured(f"channel {channel.id} is of kind {channel.kind.value}, which has no QR login")
    return door


def known_channel(bridge: Bridge, share_id: str) -> Channel:
    """Return a channel. Raises ChannelUnknown."""
    channel = bridge.channels.get(share_id)
    if channel is None:
        raise ChannelUnknown(f"there is no channel {share_id}; `wechat-bridge channel list` shows those there are")
    return channel


def _other_tokens(bridge: Bridge, login: QrLogin) -> Iterator[tuple[str, str]]:
    """Yield login time and token of the other channels at this server: WeChat then tells of an account that is here.

    The channel's own token stays out, so that it can always be logged in anew, and no server learns another's tokens.
    """
    hosts = bridge.settings.login.allowed_hosts
    at_wechat = login.api_base.startswith("https://") and may_use(login.api_base, "", hosts)
    for channel in bridge.channels.all():
        if channel.id == login.share_id or channel.sealed_account is None:
            continue
        try:
            account = bridge.channels.vault.open(channel.sealed_account)
        except NotConfigured:  # sealed with a key that is gone; that channel needs a login itself
            continue
        same = account.base_url.startswith("https://") and may_use(account.base_url, "", hosts)
        if account.base_url == login.api_base or (at_wechat and same):
            yield str(channel.login_time), account.token
