"""Links of poll chains: one at a time, and nothing written by an old link or login."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.store.channel_steps import DEADLINE, due, login, online, stored, take, taken
from tests.store.documents import NOW
from tests.support.together import together
from wechat_bridge.model.channel import CALLED_KINDS, ChannelKind, ChannelStatus, StatusReason
from wechat_bridge.store.channels import ChannelStore
from wechat_bridge.store.ledger import Document

SECOND = timedelta(seconds=1)


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


@pytest.mark.parametrize("kind", sorted(CALLED_KINDS))
def test_a_channel_that_its_platform_calls_has_no_link_to_be_taken(
    channels: ChannelStore, share_id: str, kind: ChannelKind
) -> None:
    """A doorbell may be older than the channel, which was removed and added again as another kind."""
    channel = online(channels, share_id)
    channels.configure(share_id, {"kind": kind.value})
    assert take(channels, channel) is None


def test_a_link_given_back_is_due_again_when_it_says(channels: ChannelStore, share_id: str) -> None:
    link = taken(channels, share_id)
    assert due(channels) == []
    assert channels.finish_link(share_id, link.generation, NOW + 9 * SECOND)
    assert due(channels, 8) == []
    assert due(channels, 9) == [share_id]


def test_an_old_link_gives_nothing_back(channels: ChannelStore, share_id: str) -> None:
    old = taken(channels, share_id)
    channels.finish_link(share_id, old.generation, NOW)
    assert take(channels, old, "another") is not None
    before = stored(channels, share_id)
    assert not channels.finish_link(share_id, old.generation, None)
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


def test_a_link_is_given_back_by_who_took_it_while_it_is_served(channels: ChannelStore, share_id: str) -> None:
    channel = online(channels, share_id)
    channels.untake_link(share_id, "my claim", NOW)
    assert stored(channels, share_id) == channel
    link = channels.take_link(share_id, channel.generation, "me", NOW, DEADLINE, "my claim")
    channels.untake_link(share_id, "my claim", NOW)
    assert due(channels) == [share_id]
    assert link is not None
    another = take(channels, link, "another")
    channels.untake_link(share_id, "my claim", NOW)
    assert stored(channels, share_id) == another
