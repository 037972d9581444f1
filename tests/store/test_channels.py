"""Channels: one link at a time, nothing written by an old link or login, one channel an account."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr
from pymongo.database import Database

from tests.store.documents import NOW
from tests.support.together import together
from wechat_bridge.errors import AccountTaken, ChannelExists
from wechat_bridge.model.channel import Account, Channel, ChannelStatus, Login, StatusReason
from wechat_bridge.store.channels import ChannelStore
from wechat_bridge.store.ledger import Document
from wechat_bridge.store.vault import Vault

DEADLINE = NOW + timedelta(seconds=180)
SECOND = timedelta(seconds=1)


@pytest.fixture
def channels(database: Database[Document]) -> Iterator[ChannelStore]:
    """The store under test, without channels."""
    store = ChannelStore(database, Vault([SecretStr(Fernet.generate_key().decode())]))
    yield store
    store.collection.delete_many({})


def login(name: str, token: str = "t") -> Login:
    """What a confirmed login of a WeChat user gives."""
    return Login(account=Account(token=token, account_id=f"bot of {name}", base_url="http://x"), owner_user_id=name)


def online(channels: ChannelStore, share_id: str) -> Channel:
    """A channel that was just logged in."""
    channels.add(Channel(id=share_id))
    channels.log_in(share_id, login(f"owner of {share_id}"), NOW)
    return stored(channels, share_id)


def stored(channels: ChannelStore, share_id: str) -> Channel:
    """A channel as it is stored."""
    found = channels.get(share_id)
    assert found is not None
    return found


def take(channels: ChannelStore, channel: Channel, owner: str = "me") -> Channel | None:
    """Take the next link."""
    return channels.take_link(channel.id, channel.generation, owner, NOW, DEADLINE)


def taken(channels: ChannelStore, share_id: str) -> Channel:
    """A channel whose link was just taken."""
    link = take(channels, online(channels, share_id))
    assert link is not None
    return link


def due(channels: ChannelStore, at_seconds: float = 0.0) -> list[str]:
    """The channels that the seeder would ring."""
    return [row["_id"] for row in channels.due_links(NOW + timedelta(seconds=at_seconds), 100)]


# adding and logging in


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


# links


def test_twenty_workers_take_a_link_and_one_gets_it(channels: ChannelStore, share_id: str) -> None:
    channel = online(channels, share_id)
    links = together(20, lambda number: take(channels, channel, f"worker-{number}"))
    won = [link for link in links if link is not None]
    assert len(won) == 1
    assert (won[0].generation, won[0].link_deadline) == (channel.generation + 1, DEADLINE)
    assert stored(channels, share_id) == won[0]


def test_a_doorbell_of_an_old_link_takes_nothing(channels: ChannelStore, share_id: str) -> None:
    channel = online(channels, share_id)
    link = take(channels, channel)
    assert link is not None
    channels.finish_link(share_id, link.generation, NOW)
    assert take(channels, channel) is None
    assert take(channels, link) is not None


def test_a_link_that_is_being_served_is_not_taken(channels: ChannelStore, share_id: str) -> None:
    link = taken(channels, share_id)
    assert take(channels, link) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"enabled": False},
        {"sealed_account": None},
        {"status": "offline"},
        {"status": "error", "status_reason": "login_needed"},
        {"status": "error", "status_reason": "failures", "probe_at": NOW + SECOND},
    ],
)
def test_a_channel_that_is_not_pollable_gives_no_link(channels: ChannelStore, share_id: str, fields: Document) -> None:
    channel = online(channels, share_id)
    channels.collection.update_one({"_id": share_id}, {"$set": fields})
    assert take(channels, channel) is None
    assert stored(channels, share_id).generation == channel.generation


def test_a_probe_that_is_due_gives_a_link(channels: ChannelStore, share_id: str) -> None:
    channel = online(channels, share_id)
    channels.record_poll(channel, {"status": "error", "status_reason": "failures", "probe_at": NOW})
    assert take(channels, channel) is not None


def test_a_link_given_back_is_due_again_when_it_says(channels: ChannelStore, share_id: str) -> None:
    link = taken(channels, share_id)
    assert due(channels) == []
    assert channels.finish_link(share_id, link.generation, NOW + 9 * SECOND)
    assert due(channels, 8) == []
    assert due(channels, 9) == [share_id]


def test_an_old_link_gives_nothing_back_and_extends_nothing(channels: ChannelStore, share_id: str) -> None:
    old = taken(channels, share_id)
    channels.finish_link(share_id, old.generation, NOW)
    assert take(channels, old, "another") is not None
    before = stored(channels, share_id)
    assert not channels.finish_link(share_id, old.generation, None)
    assert not channels.extend_link(share_id, old.generation, DEADLINE + SECOND)
    assert stored(channels, share_id) == before


def test_an_old_link_or_login_records_nothing(channels: ChannelStore, share_id: str) -> None:
    old = taken(channels, share_id)
    channels.finish_link(share_id, old.generation, NOW)
    link = take(channels, old, "another")
    assert link is not None
    assert not channels.record_poll(old, {"sync_buf": "old"})
    assert channels.record_poll(link, {"sync_buf": "new"})
    channels.log_in(share_id, login(f"owner of {share_id}"), NOW)
    assert not channels.record_poll(link, {"sync_buf": "old"})
    assert not channels.finish_link(share_id, link.generation, None)
    assert stored(channels, share_id).sync_buf == ""
    assert due(channels) == [share_id]


def test_the_end_of_an_old_session_does_not_touch_a_newer_login(channels: ChannelStore, share_id: str) -> None:
    old = online(channels, share_id)
    channels.log_in(share_id, login(f"owner of {share_id}"), NOW)
    assert not channels.require_login(share_id, old.epoch, "-14")
    channels.block_sends(share_id, old.epoch, NOW + 60 * SECOND)
    now = stored(channels, share_id)
    assert (now.status, now.send_blocked_until) == (ChannelStatus.ONLINE, None)
    assert channels.require_login(share_id, now.epoch, "-14")
    assert not channels.require_login(share_id, now.epoch, "-14")  # known already: one alert
    assert stored(channels, share_id).status_reason is StatusReason.LOGIN_NEEDED


def test_a_pause_of_sends_is_never_shortened(channels: ChannelStore, share_id: str) -> None:
    channel = online(channels, share_id)
    channels.block_sends(share_id, channel.epoch, NOW + 60 * SECOND)
    channels.block_sends(share_id, channel.epoch, NOW + 5 * SECOND)
    assert stored(channels, share_id).send_blocked_until == NOW + 60 * SECOND


# the seeder's view


def test_links_of_dead_owners_and_past_their_deadline_are_lost_and_freed(channels: ChannelStore, share_id: str) -> None:
    held = taken(channels, share_id)
    assert channels.lost_links(NOW, ["somebody else"], 100) == []
    lost = channels.lost_links(NOW, ["me"], 100)
    assert [row["_id"] for row in lost] == [share_id]
    assert [row["_id"] for row in channels.lost_links(DEADLINE, [], 100)] == [share_id]
    channels.free_links(lost, NOW)
    assert due(channels) == [share_id]
    assert take(channels, held, "another") is not None


def test_a_link_that_somebody_living_took_meanwhile_is_not_freed(channels: ChannelStore, share_id: str) -> None:
    held = taken(channels, share_id)
    lost = channels.lost_links(DEADLINE, [], 100)
    channels.finish_link(share_id, held.generation, NOW)
    link = take(channels, held, "another")
    channels.free_links(lost, NOW)
    assert stored(channels, share_id) == link


def test_a_disabled_channel_is_not_seeded_and_is_at_once_when_enabled_again(
    channels: ChannelStore, share_id: str
) -> None:
    online(channels, share_id)
    assert channels.set_enabled(share_id, False, NOW)
    assert due(channels, 999) == []
    assert channels.set_enabled(share_id, True, NOW + SECOND)
    assert due(channels, 1) == [share_id]
    assert not channels.set_enabled("nothing", True, NOW)


def test_a_disabled_channel_that_waits_for_a_probe_is_not_seeded_and_probes_when_enabled_again(
    channels: ChannelStore, share_id: str
) -> None:
    channel = online(channels, share_id)
    channels.record_poll(channel, {"status": "error", "status_reason": "failures", "probe_at": NOW + SECOND})
    channels.finish_link(share_id, channel.generation, None)
    channels.set_enabled(share_id, False, NOW)
    assert due(channels, 999) == []
    channels.set_enabled(share_id, True, NOW)
    assert due(channels) == [share_id]
    assert take(channels, stored(channels, share_id)) is not None


@pytest.mark.parametrize("probe_at", [None, NOW])
def test_a_chain_that_ended_is_not_seeded(channels: ChannelStore, share_id: str, probe_at: object) -> None:
    online(channels, share_id)
    fields = {"status": "error", "status_reason": "failures", "enabled": False, "probe_at": probe_at}
    channels.collection.update_one({"_id": share_id}, {"$set": fields})
    assert due(channels) == [share_id]
    channels.end_chain(stored(channels, share_id))
    assert due(channels, 999) == []


def test_ending_a_chain_does_not_end_that_of_a_login_in_the_same_moment(channels: ChannelStore, share_id: str) -> None:
    old = online(channels, share_id)
    channels.require_login(share_id, old.epoch, "-14")
    ended = stored(channels, share_id)
    channels.log_in(share_id, login(f"owner of {share_id}"), NOW)
    channels.end_chain(ended)
    assert due(channels) == [share_id]


def test_ending_a_chain_does_not_end_that_of_a_channel_enabled_in_the_same_moment(
    channels: ChannelStore, share_id: str
) -> None:
    online(channels, share_id)
    channels.set_enabled(share_id, False, NOW)
    ended = stored(channels, share_id)
    channels.set_enabled(share_id, True, NOW)
    channels.end_chain(ended)
    assert due(channels) == [share_id]
