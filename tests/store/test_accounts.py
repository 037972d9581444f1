"""Logging out, removing and reminding, in a real ledger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pymongo.database import Database

from tests.support.together import together
from wechat_bridge.model.channel import Account, Channel, ChannelKind, ChannelStatus, Login, StatusReason
from wechat_bridge.store.accounts import AccountStore
from wechat_bridge.store.channels import ChannelStore
from wechat_bridge.store.ledger import Document

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def accounts(database: Database[Document]) -> AccountStore:
    """The store under test."""
    return AccountStore(database)


def logged_in(channels: ChannelStore, share_id: str, owner: str = "") -> Channel:
    channels.add(Channel(id=share_id))
    account = Account(token="t", account_id=f"bot-{share_id}", base_url="https://h")
    channels.log_in(share_id, Login(account=account, owner_user_id=owner or f"owner-{share_id}"), NOW)
    return read(channels, share_id)


def read(channels: ChannelStore, share_id: str) -> Channel:
    channel = channels.get(share_id)
    assert channel is not None
    return channel


def test_a_channel_that_is_logged_out_holds_nothing_of_its_account(
    channels: ChannelStore, accounts: AccountStore, share_id: str
) -> None:
    before = logged_in(channels, share_id)
    assert accounts.log_out(share_id)
    channel = read(channels, share_id)
    assert (channel.sealed_account, channel.account_id, channel.owner_user_id) == (None, "", None)
    assert (channel.status, channel.status_reason) == (ChannelStatus.OFFLINE, StatusReason.LOGGED_OUT)
    assert not channel.is_pollable
    assert not channels.record_poll(before, {"sync_buf": "late"}), "what still comes from the login is refused"
    assert not accounts.log_out("nobody")


def test_a_removed_channel_that_is_added_again_goes_on_counting_its_logins(
    channels: ChannelStore, accounts: AccountStore, share_id: str
) -> None:
    channel = logged_in(channels, share_id)
    accounts.remove(channel)
    assert channels.get(share_id) is None
    assert logged_in(channels, share_id).epoch > channel.epoch


def test_the_channels_of_a_person_are_found(channels: ChannelStore, accounts: AccountStore, share_id: str) -> None:
    logged_in(channels, share_id, "ann")
    assert [channel.id for channel in accounts.of_owner(ChannelKind.ILINK, "ann")] == [share_id]
    assert accounts.of_owner(ChannelKind.ILINK, "bob") == []


def test_one_of_many_tells_that_a_login_is_needed_and_again_after_a_day(
    channels: ChannelStore, accounts: AccountStore, share_id: str
) -> None:
    channel = logged_in(channels, share_id)
    assert not accounts.claim_reminder(share_id, NOW, NOW - DAY), "it needs none"
    channels.require_login(share_id, channel.epoch, "-14")
    assert accounts.unreminded(NOW - DAY, 10) == [share_id]
    assert sum(together(10, lambda _: accounts.claim_reminder(share_id, NOW, NOW - DAY))) == 1
    assert accounts.unreminded(NOW - DAY, 10) == []
    assert accounts.unreminded(NOW, 10) == [share_id]
    assert accounts.claim_reminder(share_id, NOW + DAY, NOW)


def test_a_login_makes_the_next_end_of_a_session_news_again(
    channels: ChannelStore, accounts: AccountStore, share_id: str
) -> None:
    channel = logged_in(channels, share_id)
    channels.require_login(share_id, channel.epoch, "-14")
    accounts.claim_reminder(share_id, NOW, NOW - DAY)
    account = Account(token="t2", account_id="b2", base_url="https://h")
    channels.log_in(share_id, Login(account=account, owner_user_id="o2"), NOW)
    channels.require_login(share_id, channel.epoch + 1, "-14")
    assert accounts.unreminded(NOW - DAY, 10) == [share_id]


def test_nobody_is_reminded_of_a_channel_that_is_switched_off(
    channels: ChannelStore, accounts: AccountStore, share_id: str
) -> None:
    channel = logged_in(channels, share_id)
    channels.require_login(share_id, channel.epoch, "-14")
    channels.set_enabled(share_id, False, NOW)
    assert accounts.unreminded(NOW - DAY, 10) == []
