"""What people may see of a channel: never its credentials, and not the cursor."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from wechat_bridge.model.channel import Channel, ChannelStatus

SHOWN = (
    "kind", "name", "enabled", "status", "status_reason", "account_id", "owner_user_id", "engine", "access", "settings",
    "login_time", "last_poll_at", "last_message_at", "last_error", "send_blocked_until", "next_poll_at", "poll_owner",
    "epoch", "generation", "created_at",
)  # fmt: skip


def as_fields(channel: Channel) -> dict[str, Any]:
    """Return the channel as JSON values; times are ISO 8601 in UTC."""
    return {"share_id": channel.share_id, **channel.model_dump(mode="json", include=set(SHOWN))}


def as_row(channel: Channel) -> tuple[str, ...]:
    """Return the columns of the list."""
    name, engine = channel.name or "-", channel.engine
    return channel.share_id, name, _status(channel), engine, _ago(channel.last_poll_at), _ago(channel.last_message_at)


def _status(channel: Channel) -> str:
    if not channel.enabled:
        return "disabled"
    if channel.status is ChannelStatus.ONLINE:
        return channel.status.value
    return f"{channel.status.value}: {channel.status_reason.value}"


def _ago(moment: datetime | None) -> str:
    if moment is None:
        return "-"
    seconds = max(0, int((datetime.now(UTC) - moment).total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"
