"""WeChat ended the session of a login."""

from __future__ import annotations

from wechat_bridge.errors import SessionExpired
from wechat_bridge.flow.context import Bridge
from wechat_bridge.observe import alerts


def session_ended(bridge: Bridge, share_id: str, epoch: int, error: SessionExpired) -> None:
    """Stop the channel until somebody logs it in; its replies are kept. A newer login is left alone."""
    if bridge.channels.require_login(share_id, epoch, str(error)):
        alerts.raise_("login_needed", share_id, f"run: wechat-bridge channel login {share_id}")
