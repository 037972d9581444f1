"""WeChat ended the session of a login: the channel stops, somebody is told, and told again while it lasts."""

from __future__ import annotations

from datetime import timedelta

from wechat_bridge.errors import SessionExpired
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.channel import Channel, StatusReason
from wechat_bridge.observe import alerts
from wechat_bridge.observe.logging import logger

log = logger(__name__)

AGAIN = timedelta(days=1)
MOST_PER_PASS = 100


def session_ended(bridge: Bridge, share_id: str, epoch: int, error: SessionExpired) -> None:
    """Stop the channel until somebody logs it in; its replies are kept. A newer login is left alone."""
    if bridge.channels.require_login(share_id, epoch, str(error)):
        _tell(bridge, share_id)


def session_is_back(before: Channel) -> None:
    """A channel was logged in that was like ``before``: say that the alert is over, whichever process raised it."""
    if before.status_reason is StatusReason.LOGIN_NEEDED:
        log.warning("alert_cleared", cause=StatusReason.LOGIN_NEEDED.value, subject=before.id)


def remind(bridge: Bridge) -> None:
    """Tell once a day of every channel that still needs a login."""
    for share_id in bridge.accounts.unreminded(bridge.clock.now() - AGAIN, MOST_PER_PASS):
        _tell(bridge, share_id)


def _tell(bridge: Bridge, share_id: str) -> None:
    """Of all processes that notice, one tells: the ledger remembers when that was, until the next login."""
    now = bridge.clock.now()
    if bridge.accounts.claim_reminder(share_id, now, now - AGAIN):
        advice = f"run: wechat-bridge channel login {share_id} (or the task wechat_bridge.relogin) and scan the code"
        alerts.raise_(StatusReason.LOGIN_NEEDED.value, share_id, advice, again_seconds=0)
