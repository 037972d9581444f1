"""Channels: a name is given once, an account is online in one of them, and no token is in the clear."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.store.channel_steps import login, online, stored, taken
from tests.store.documents import NOW
from tests.support.together import together
from wechat_bridge.errors import AccountTaken, ChannelExists
from wechat_bridge.model.channel import Channel, ChannelStatus
from wechat_bridge.store.channels import ChannelStore

SECOND = timedelta(seconds=1)


def test_a_name_is_given_once(channels: ChannelStore, share_id: str) -> None:
    channels.add(Channel(id=share_id, name="first"))
    with pytest.raises(ChannelExists, match=share_id):
        channels.add(Channel(id=share_id, name="second"))
    assert stored(channels, share_id).name == "first"


def test_a_login_brings_a_channel_online_without_the_old_cursor(channels: ChannelStore, share_id: str) -> None:
    first = taken(channels, share_id)
    channels.record_poll(first, {"sync_buf": "B7", "suspect_polls": 3, "last_error": "x"})
    channels.log_in(share_id, login(f"owner of {share_id}", token="new"), NOW + SECOND)
    now = stored(channels, share_id)
    assert (now.status, now.sync_buf, now.epoch, now.suspect_polls) == (ChannelStatus.ONLINE, "", 2, 0)
    assert (now.poll_owner, now.next_poll_at) == (None, NOW + SECOND)
    assert channels.vault.open(now.sealed_account or "").token == "new"


def test_a_token_is_never_stored_in_the_clear(channels: ChannelStore, share_id: str) -> None:
    channels.add(Channel(id=share_id))
    channels.log_in(share_id, login(share_id, token="b1@im.bot:0600000012ab"), NOW)
    assert "0600000012ab" not in str(channels.collection.find_one({"_id": share_id}))


def test_an_account_that_is_online_elsewhere_is_refused_with_the_name_of_that_channel(
    channels: ChannelStore, share_id: str
) -> None:
    first, second = f"{share_id}-a", f"{share_id}-b"
    channels.add(Channel(id=first))
    channels.add(Channel(id=second))
    channels.log_in(first, login("one person"), NOW)
    before = stored(channels, second)
    with pytest.raises(AccountTaken, match=first):
        channels.log_in(second, login("one person"), NOW)
    assert stored(channels, second) == before


def test_an_account_moves_once_its_first_channel_is_not_online_any_more(channels: ChannelStore, share_id: str) -> None:
    first, second = f"{share_id}-a", f"{share_id}-b"
    channels.add(Channel(id=first))
    channels.add(Channel(id=second))
    channels.log_in(first, login("one person"), NOW)
    channels.require_login(first, 1, "-14")
    channels.log_in(second, login("one person"), NOW)
    assert stored(channels, second).status is ChannelStatus.ONLINE


def test_the_same_account_logs_in_again_in_its_own_channel(channels: ChannelStore, share_id: str) -> None:
    first = online(channels, share_id)
    channels.log_in(share_id, login(first.owner_user_id or ""), NOW)
    assert stored(channels, share_id).epoch == 2


def test_ten_logins_of_one_account_into_ten_channels_leave_one_online(channels: ChannelStore, share_id: str) -> None:
    for number in range(10):
        channels.add(Channel(id=f"{share_id}-{number}"))

    def log_in(number: int) -> bool:
        try:
            channels.log_in(f"{share_id}-{number}", login("one person"), NOW)
        except AccountTaken:
            return False
        return True

    assert sum(together(10, log_in)) == 1
    assert [each.status.value for each in channels.all()].count("online") == 1


def test_what_an_operator_chose_is_written_without_touching_the_poll_chain(
    channels: ChannelStore, share_id: str
) -> None:
    channels.add(Channel(id=share_id, sync_buf="B7", generation=3, poll_owner="somebody"))
    assert channels.configure(share_id, {"name": "shop", "outgoing.label": "AI"})
    found = channels.get(share_id)
    assert found is not None
    assert (found.name, found.outgoing.label, found.outgoing.words) == ("shop", "AI", ())
    assert (found.sync_buf, found.generation, found.poll_owner) == ("B7", 3, "somebody")
    assert not channels.configure("nowhere", {"name": "x"})
