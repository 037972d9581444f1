"""What people may see of a channel: never its credentials, and not the cursor."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from wechat_bridge.model.channel import POLLED_KINDS, Channel, ChannelStatus
from wechat_bridge.model.outgoing import OutgoingRules

SHOWN = (
    "kind", "name", "enabled", "status", "status_reason", "account_id", "owner_user_id", "engine", "queue_mode",
    "access", "settings", "login_time", "last_poll_at", "last_callback_at", "last_message_at", "last_error", "hold",
    "send_blocked_until", "next_poll_at", "poll_owner", "epoch", "generation", "created_at",
)  # fmt: skip

POLLED_ONLY = {"owner_user_id", "last_poll_at", "next_poll_at", "poll_owner", "generation"}
CALLED_ONLY = {"last_callback_at"}


def as_fields(channel: Channel) -> dict[str, Any]:
    """Return the channel as JSON values; times are ISO 8601 in UTC."""
    unused = POLLED_ONLY if channel.kind not in POLLED_KINDS else CALLED_ONLY
    fields = channel.model_dump(mode="json", include=set(SHOWN) - unused)
    return {"share_id": channel.share_id, **fields, "outgoing": outgoing_fields(channel.outgoing)}


def outgoing_fields(rules: OutgoingRules) -> dict[str, Any]:
    """Return the outgoing rules as JSON values: how many words, and the address without what may be secret in it."""
    return {
        "label": rules.label,
        "refusal": rules.refusal,
        "words": len(rules.words),
        "check_url": _without_secrets(rules.check_url),
        "check_secret": "set" if rules.sealed_check_secret else "",
    }


def as_changes(before: Channel, after: Channel) -> list[str]:
    """Return a line for each field that an operator changed, without secrets."""
    was, now = _settable(before), _settable(after)
    changes = [f"{name}: {_shown(was[name])} -> {_shown(now[name])}" for name in now if was[name] != now[name]]
    if before.outgoing.words != after.outgoing.words and was["words"] == now["words"]:
        changes.append(f"words: {now['words']} others")
    if before.outgoing.check_url != after.outgoing.check_url and was["check_url"] == now["check_url"]:
        changes.append("check_url: changed behind its host")
    secrets = {before.outgoing.sealed_check_secret, after.outgoing.sealed_check_secret}
    return [*changes, "check_secret: changed"] if len(secrets - {""}) > 1 else changes


def as_row(channel: Channel) -> tuple[str, ...]:
    """Return the columns of the list."""
    name, engine = channel.name or "-", channel.engine
    heard = _ago(channel.last_poll_at if channel.kind in POLLED_KINDS else channel.last_callback_at)
    last = _ago(channel.last_message_at)
    return channel.share_id, channel.kind.value, name, _status(channel), engine, heard, last


def _settable(channel: Channel) -> dict[str, Any]:
    fields = channel.model_dump(mode="json", include={"name", "engine", "queue_mode"})
    return fields | outgoing_fields(channel.outgoing)


def _shown(value: object) -> str:
    return str(value) if value != "" else "-"


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/..." if url else ""


def _status(channel: Channel) -> str:
    if not channel.enabled:
        return "disabled"
    if channel.status is not ChannelStatus.ONLINE:
        return f"{channel.status.value}: {channel.status_reason.value}"
    hold = channel.hold
    return f"online, held: {hold.reason}" if hold is not None and hold.lasts else channel.status.value


def _ago(moment: datetime | None) -> str:
    if moment is None:
        return "-"
    seconds = max(0, int((datetime.now(UTC) - moment).total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"
