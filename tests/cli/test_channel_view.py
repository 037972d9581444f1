"""What people see of a channel."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from wechat_bridge.cli.channel_view import as_fields, as_row
from wechat_bridge.model.channel import Channel, ChannelKind, ChannelStatus, StatusReason
from wechat_bridge.model.hold import Hold


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
    assert as_row(channel)[5] == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"status": ChannelStatus.ONLINE, "status_reason": StatusReason.NONE}, "online"),
        ({"status": ChannelStatus.ERROR, "status_reason": StatusReason.LOGIN_NEEDED}, "error: login_needed"),
        ({"status": ChannelStatus.ONLINE, "status_reason": StatusReason.NONE, "enabled": False}, "disabled"),
    ],
)
def test_the_status_says_why(fields: dict[str, object], text: str) -> None:
    assert as_row(Channel.model_validate({"id": "a", **fields}))[3] == text


def test_an_app_that_wecom_refuses_is_said_to_be_held_until_it_works_again() -> None:
    now = datetime.now(UTC)
    hold = Hold(
        reason="address_not_trusted", cause="", error="60020", since=now, told_at=now, probe_at=now, delay_seconds=60
    )
    online: dict[str, Any] = {"id": "a", "kind": "wecom", "status": "online", "status_reason": ""}
    assert as_row(Channel(**online, hold=hold))[3] == "online, held: address_not_trusted"
    assert as_row(Channel(**online, hold=hold.model_copy(update={"probe_at": None})))[3] == "online"
    assert as_fields(Channel(**online, hold=hold))["hold"]["error"] == "60020"


def test_what_is_called_shows_its_calls_and_what_is_polled_its_polls() -> None:
    times = {"last_poll_at": datetime.now(UTC) - timedelta(hours=2), "last_callback_at": datetime.now(UTC)}
    assert as_row(Channel(id="a", kind=ChannelKind.WECOM, **times))[5] == "0 s ago"
    assert as_row(Channel(id="a", **times))[5] == "2 h ago"


def test_fields_are_json_values() -> None:
    moment = datetime(2026, 11, 30, 12, tzinfo=UTC)
    fields = as_fields(Channel(id="a", login_time=moment, sealed_account="sealed"))
    assert (fields["share_id"], fields["status"], fields["login_time"]) == ("a", "offline", "2026-11-30T12:00:00Z")
    assert "sealed" not in fields.values()
