"""A personal account: is it logged in, and is it polled?"""

from __future__ import annotations

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.health.check import Check
from wechat_bridge.model.channel import Channel, ChannelStatus, StatusReason

MARGIN_SECONDS = 60.0
_MISSING = "is a poll worker running? wechat-bridge health says what is missing"


def of_login(bridge: Bridge, channel: Channel) -> list[Check]:
    """Judge what the ledger knows of a channel; WeChat is not asked."""
    login = _login(channel)
    return [login, _last_poll(bridge, channel)] if login.ok and channel.enabled else [login]


def _login(channel: Channel) -> Check:
    error = f" ({channel.last_error})" if channel.last_error else ""
    if channel.status is ChannelStatus.ONLINE:
        return Check(name="login", ok=True, detail=f"logged in as {channel.account_id}")
    if channel.status_reason is StatusReason.FAILURES:
        detail = f"polls fail{error}; it is probed until WeChat answers again. Look at the network of the poll worker"
    else:
        reason = channel.status_reason.value.replace("_", " ")
        detail = f"{reason}{error}: scan a code with wechat-bridge channel login {channel.id}"
    return Check(name="login", ok=False, detail=detail)


def _last_poll(bridge: Bridge, channel: Channel) -> Check:
    since = channel.last_poll_at or channel.login_time
    if since is None:
        return Check(name="last poll", ok=False, detail=f"never; {_MISSING}")
    age = (bridge.clock.now() - since).total_seconds()
    if age <= bridge.settings.poll.total_deadline_seconds + MARGIN_SECONDS:
        return Check(name="last poll", ok=True, detail=f"{max(0.0, age):.0f} s ago")
    return Check(name="last poll", ok=False, detail=f"{age:.0f} s ago; {_MISSING}")
