"""Read a customer service account: page after page into the inbox, and only then on.

One pull at a time reads an account. The lock says so cheaply; what holds is that each pull begins with a number of its
own, without which the cursor does not move. Two at once would store the same rows, which changes nothing.
"""

from __future__ import annotations

from wechat_bridge.errors import (
    AppHeld,
    BridgeError,
    BrokerUnavailable,
    ContentRefused,
    LedgerUnavailable,
    OwnerStale,
    PermanentError,
    PlatformUnavailable,
    TransientError,
)
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.customer_service.bell import ring
from wechat_bridge.flow.customer_service.page import Reader, keep_page
from wechat_bridge.flow.poll_lock import let_go, take_lock
from wechat_bridge.flow.wecom.app import app_of
from wechat_bridge.model.channel import Channel, ChannelKind
from wechat_bridge.model.wecom_kf import KfAccount, KfSettings, Page, Service, service_of
from wechat_bridge.observe import alerts
from wechat_bridge.observe.logging import logger

log = logger(__name__)

SAFETY_SECONDS = 300.0
"""How often an account is read for which nobody rings; without a token WeCom allows that a few times a minute."""

TOKEN_SECONDS = 540.0
"""A doorbell's token is good for ten minutes."""

MOST_PAGES = 50
"""Then the rest is for the next pull, so that others have their turn."""

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 5.0, 300.0
HELD_PAUSE_SECONDS = 60.0
MANY_FAILURES = 3
UNREAD = "customer_service_unread"


def pull_customer_service(bridge: Bridge, share_id: str) -> None:
    """Read the account of a channel to its end; do nothing when somebody else does.

    Raises OwnerStale, LedgerUnavailable and BrokerUnavailable, having lost nothing: the account stays due.
    """
    if bridge.stopping.is_set():
        bridge.doorbells.ring_pull(share_id)
        return
    bridge.alive.check()
    channel = bridge.channels.get(share_id)
    if channel is None or channel.kind is not ChannelKind.WECOM_KF:
        bridge.services.end(share_id)
        return
    known = bridge.services.get(service_of(channel.settings))
    if known is None or known.share_id != share_id or not take_lock(bridge, share_id, known.generation):
        return
    try:
        service = bridge.services.take(known.id, known.generation)
        if service is not None:
            _pull(bridge, channel, service, known.generation)
    finally:
        _leave(bridge, share_id, known.generation)
    _ring_if_due(bridge, known.id)


def _leave(bridge: Bridge, share_id: str, mark: int) -> None:
    """Release the lock and the doorbell's mark; a broker that refuses now makes no failure of what was pulled."""
    try:
        let_go(bridge, share_id, mark)
        bridge.locks.unannounce(share_id, bridge.owner)
    except BrokerUnavailable as error:
        log.warning("lock_kept", share_id=share_id, error=str(error))


def _ring_if_due(bridge: Bridge, service_id: str) -> None:
    """Whoever rang while the lock was held went away; their doorbell may have come after the last page."""
    service = bridge.services.get(service_id)
    if service is not None and service.due_at is not None and service.due_at <= bridge.clock.now():
        ring(bridge, service.share_id)


def _pull(bridge: Bridge, channel: Channel, service: Service, mark: int) -> None:
    if channel.sealed_account is None:  # its credentials were removed on purpose
        bridge.services.postpone(service, bridge.clock.after(SAFETY_SECONDS), 0)
        return
    try:
        if _read_all(bridge, channel, service, mark):
            _done(bridge, channel, service)
    except (LedgerUnavailable, OwnerStale):
        raise
    except BridgeError as error:
        _failed(bridge, channel, service, error)


def _read_all(bridge: Bridge, channel: Channel, service: Service, mark: int) -> bool:
    """Read page after page, empty ones too; False when the rest is for another pull."""
    settings, account = app_of(bridge, channel)
    assert isinstance(settings, KfSettings)
    assert isinstance(account, KfAccount)
    reader = Reader(channel, settings, account)
    for _ in range(MOST_PAGES):
        page = _page(bridge, account, service)
        keep_page(bridge, reader, page.entries)
        has_moved = page.cursor not in ("", service.cursor)
        if has_moved and not bridge.services.move(service, page.cursor):
            log.info("pull_superseded", share_id=channel.id)
            return False
        service.cursor = page.cursor or service.cursor
        if not page.has_more:
            return True
        if not has_moved:
            raise PlatformUnavailable(
                "WeCom says that there is more to pull and gives no new cursor; it is tried again"
            )
        if bridge.stopping.is_set() or bridge.locks.keep(channel.id, bridge.owner, mark) is None:
            return False
        bridge.alive.check()
    return False


def _page(bridge: Bridge, account: KfAccount, service: Service) -> Page:
    """Pull one page, with the token of a fresh doorbell while it is good."""
    token, now = _token(bridge, service), bridge.clock.now()
    door = bridge.customer_service
    try:
        page, is_good = door.pull(account, service.cursor, token, now)
    except ContentRefused as error:
        if not service.cursor:
            raise
        # Everything of the last three days comes again; the rows are there, and what is new is found.
        log.warning("cursor_refused", account_id=account.account_id, error=str(error))
        page, is_good = door.pull(account, "", token, now)
    if token and not is_good:
        bridge.services.forget_token(service)
        service.event_token = None
    return page


def _token(bridge: Bridge, service: Service) -> str:
    if service.event_token is None or service.event_token_at is None:
        return ""
    age = (bridge.clock.now() - service.event_token_at).total_seconds()
    return bridge.channels.vault.open_text(service.event_token) if age < TOKEN_SECONDS else ""


def _done(bridge: Bridge, channel: Channel, service: Service) -> None:
    """All is read; a doorbell since leaves the account due."""
    bridge.services.finish(service, bridge.clock.after(SAFETY_SECONDS))
    bridge.channels.record_poll(channel, {"last_poll_at": bridge.clock.now(), "last_error": None})
    alerts.clear(UNREAD, channel.id)


def _failed(bridge: Bridge, channel: Channel, service: Service, error: BridgeError) -> None:
    """Try again later; tell somebody when it does not pass by itself."""
    failures = service.failures + 1
    seconds = _pause_seconds(error, failures)
    bridge.services.postpone(service, bridge.clock.after(seconds), failures)
    bridge.channels.record_poll(channel, {"last_error": str(error)})
    log.warning("pull_failed", share_id=channel.id, failures=failures, error=str(error), again_in_seconds=seconds)
    if isinstance(error, AppHeld | PermanentError) or failures >= MANY_FAILURES:
        alerts.raise_(UNREAD, channel.id, f"customers are not heard: {error}")


def _pause_seconds(error: BridgeError, failures: int) -> float:
    asked = error.retry_after_seconds or 0.0 if isinstance(error, TransientError) else HELD_PAUSE_SECONDS
    return min(LONGEST_PAUSE_SECONDS, max(asked, FIRST_PAUSE_SECONDS * 2.0 ** min(failures - 1, 10)))
