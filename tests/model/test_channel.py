"""Channels: when one may be polled, and that its secrets stay out of sight."""

from __future__ import annotations

import itertools

import pytest

from wechat_bridge.model.channel import Account, Channel, ChannelStatus, Login, StatusReason

TOKEN = "b1@im.bot:0600000012ab"


@pytest.mark.parametrize(("status", "reason"), list(itertools.product(ChannelStatus, StatusReason)))
def test_only_what_is_online_or_waits_for_a_probe_is_polled(status: ChannelStatus, reason: StatusReason) -> None:
    expected = status is ChannelStatus.ONLINE or (status is ChannelStatus.ERROR and reason is StatusReason.FAILURES)
    channel = Channel(id="shop", status=status, status_reason=reason, sealed_account="sealed")
    assert channel.is_pollable == expected


def test_a_channel_that_is_disabled_or_was_never_logged_in_is_not_polled() -> None:
    online = Channel(id="shop", status=ChannelStatus.ONLINE, sealed_account="sealed")
    assert online.is_pollable
    assert not online.model_copy(update={"enabled": False}).is_pollable
    assert not online.model_copy(update={"sealed_account": None}).is_pollable


def test_nothing_that_is_printed_shows_a_token() -> None:
    account = Account(token=TOKEN, account_id="b1@im.bot", base_url="http://127.0.0.1:1")
    shown = f"{account!r} {Login(account=account, owner_user_id='ann')!r} {Channel(id='shop', sealed_account=TOKEN)!r}"
    assert TOKEN not in shown
    assert "b1@im.bot" in shown
