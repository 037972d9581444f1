"""What people see of a channel."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from wechat_bridge.cli.channel_view import as_fields, as_row
from wechat_bridge.model.channel import Channel, ChannelStatus, StatusReason


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(seconds=-3), "0 s ago"),
        (timedelta(seconds=59), "59 s ago"),
        (timedelta(minutes=61), "1 h ago"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(days=3), "3 d ago"),
    ],
)
def test_times_are_ages(age: timedelta, text: str) -> None:
    channel = Channel(id="a", last_poll_at=datetime.now(UTC) - age)
    assert as_row(channel)[4] == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"status": ChannelStatus.ONLINE, "status_reason": StatusReason.NONE}, "online"),
        ({"status": ChannelStatus.ERROR, "status_reason": StatusReason.LOGIN_NEEDED}, "error: login_needed"),
        ({"status": ChannelStatus.ONLINE, "status_reason": StatusReason.NONE, "enabled": False}, "disabled"),
    ],
)
def test_the_status_says_why(fields: dict[str, object], text: str) -> None:
    assert as_row(Channel.model_validate({"id": "a", **fields}))[2] == text


def test_fields_are_json_values() -> None:
    moment = datetime(2026, 11, 30, 12, tzinfo=UTC)
    fields = as_fields(Channel(id="a", login_time=moment, sealed_account="sealed"))
    assert (fields["share_id"], fields["status"], fields["login_time"]) == ("a", "offline", "2026-11-30T12:00:00Z")
    assert "sealed" not in fields.values()
