"""What a failed poll does to its channel: try again, stop until a probe, or wait for a login."""

from __future__ import annotations

from typing import Any

from wechat_bridge.errors import PlatformUnavailable, SessionExpired
from wechat_bridge.flow.chain import jittered
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.link import Link
from wechat_bridge.flow.login.session import session_ended
from wechat_bridge.model.channel import ChannelStatus, StatusReason
from wechat_bridge.observe import alerts
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def session_expired(bridge: Bridge, link: Link, error: SessionExpired) -> float | None:
    """WeChat ended the session: no probe, replies are kept. A newer login is left alone."""
    session_ended(bridge, link.share_id, link.channel.epoch, error)
    current = bridge.channels.get(link.share_id)
    return 0.0 if current and current.is_pollable else None


def poll_failed(bridge: Bridge, link: Link, error: PlatformUnavailable) -> float | None:
    """Count a failure; the last one of the window stops the channel until a probe is due."""
    poll = bridge.settings.poll
    log.warning("poll_failed", share_id=link.share_id, error=str(error))
    if not bridge.channels.record_poll(link.channel, {"last_error": str(error)}):
        return 0.0  # of an old login or link: it says nothing about those that go on
    if link.channel.status is ChannelStatus.ERROR:
        delay = min(2 * (link.channel.probe_delay_seconds or poll.probe_first_seconds), poll.probe_most_seconds)
        _stop_until_probe(bridge, link, error, delay)
        return None
    if bridge.locks.count_failure(link.share_id, poll.failure_window_seconds) >= poll.failure_limit:
        alerts.raise_("poll_failures", link.share_id, f"{poll.failure_limit} polls failed, the last one: {error}")
        _stop_until_probe(bridge, link, error, poll.probe_first_seconds)
        return None
    return jittered(bridge, poll.failure_delay_seconds)


def _stop_until_probe(bridge: Bridge, link: Link, error: PlatformUnavailable, delay_seconds: float) -> None:
    probe_at = bridge.clock.after(jittered(bridge, delay_seconds))
    changes = in_error(StatusReason.FAILURES, str(error)) | {"probe_at": probe_at, "probe_delay_seconds": delay_seconds}
    bridge.channels.record_poll(link.channel, changes)


def in_error(reason: StatusReason, error: str) -> dict[str, Any]:
    """Return what makes a channel be in error."""
    return {"status": ChannelStatus.ERROR.value, "status_reason": reason.value, "last_error": error}
