"""Polls that fail: how many stop a channel and what brings it back."""

from __future__ import annotations

import pytest

from tests.flow.polling import FAILURES, alerts, counter, fail, let_probe_be_due, seconds_from_now, stopped
from tests.support.doorbells import taken
from tests.support.world import World
from wechat_bridge.flow.seed import seed_poll_chains
from wechat_bridge.model.channel import Account, Channel, ChannelStatus, Login, StatusReason
from wechat_bridge.store import redis_keys


@pytest.mark.parametrize("kind", list(FAILURES))
def test_every_kind_of_failure_counts_keeps_the_cursor_and_is_followed_after_ten_seconds(
    quick: World, kind: str
) -> None:
    quick.control.say(quick.bot_id, quick.user(), "one")
    before = quick.poll()
    channel = fail(quick, kind)
    assert counter(quick) == "1"
    assert channel.sync_buf == before.sync_buf != ""
    assert channel.status is ChannelStatus.ONLINE
    assert channel.last_error
    assert 7.9 <= seconds_from_now(quick, channel.next_poll_at) <= 12


def test_a_server_that_is_not_there_is_a_failure(quick: World) -> None:
    account = Account(token="t", account_id=quick.bot_id, base_url="http://127.0.0.1:9")
    login = Login(account=account, owner_user_id=quick.channel.owner_user_id or "")
    quick.bridge.channels.log_in(quick.share_id, login, quick.bridge.clock.now())
    assert quick.poll().last_error
    assert counter(quick) == "1"


def test_five_failures_of_any_mix_within_the_window_stop_the_channel_with_one_alert(quick: World) -> None:
    before = alerts("poll_failures")
    for kind in ("cut", "gateway error", "a page", "ret"):
        assert fail(quick, kind).status is ChannelStatus.ONLINE
    channel = fail(quick, "errcode")
    assert (channel.status, channel.status_reason) == (ChannelStatus.ERROR, StatusReason.FAILURES)
    assert (channel.poll_owner, channel.next_poll_at) == (None, None)
    assert 24 <= seconds_from_now(quick, channel.probe_at) <= 36
    assert alerts("poll_failures") == before + 1


def test_a_stopped_channel_is_not_polled_before_its_probe_is_due(quick: World) -> None:
    channel = stopped(quick)
    polls = quick.polls()
    taken(quick, "poll")
    seed_poll_chains(quick.bridge)
    assert taken(quick, "poll") == []
    assert quick.poll() == channel
    assert quick.polls() == polls


def test_four_failures_and_the_end_of_the_window_stop_nothing(quick: World) -> None:
    for _ in range(4):
        fail(quick)
    quick.wired.redis.delete(redis_keys.poll_failures(quick.share_id))  # what its expiry does
    assert fail(quick).status is ChannelStatus.ONLINE
    assert counter(quick) == "1"


def test_a_success_leaves_a_zero_and_the_next_failure_opens_a_new_window(quick: World) -> None:
    for _ in range(4):
        fail(quick)
    quick.poll()
    assert counter(quick) == "0"
    assert quick.channel.last_error is None
    assert fail(quick).status is ChannelStatus.ONLINE
    assert counter(quick) == "1"


def test_a_due_probe_is_seeded_and_brings_the_channel_back_with_cursor_and_epoch(quick: World) -> None:
    quick.control.say(quick.bot_id, quick.user(), "one")
    before = quick.poll()
    stopped(quick)
    taken(quick, "poll")
    let_probe_be_due(quick)
    seed_poll_chains(quick.bridge)
    assert [each.args for each in taken(quick, "poll")] == [[quick.share_id, quick.channel.generation]]
    channel = quick.poll()
    assert (channel.status, channel.status_reason, channel.last_error) == (
        ChannelStatus.ONLINE,
        StatusReason.NONE,
        None,
    )
    assert (channel.sync_buf, channel.epoch, channel.probe_at) == (before.sync_buf, before.epoch, None)
    assert channel.next_poll_at is not None
    assert quick.control.polls(quick.bot_id)[-1]["cursor"] == before.sync_buf
    assert fail(quick).status is ChannelStatus.ONLINE  # the count began anew


def test_probes_that_fail_come_less_and_less_often_down_to_five_minutes(quick: World) -> None:
    channel = stopped(quick)
    delays = [channel.probe_delay_seconds]
    for _ in range(5):
        let_probe_be_due(quick)
        channel = fail(quick)
        delays.append(channel.probe_delay_seconds)
        assert (channel.status, channel.next_poll_at) == (ChannelStatus.ERROR, None)
    assert delays == [30.0, 60.0, 120.0, 240.0, 300.0, 300.0]
    assert 240 <= seconds_from_now(quick, channel.probe_at) <= 360


def test_a_probe_that_brings_messages_stores_them(quick: World) -> None:
    stopped(quick)
    quick.control.say(quick.bot_id, quick.user(), "one")
    let_probe_be_due(quick)
    assert quick.poll().status is ChannelStatus.ONLINE
    assert len(quick.bridge.inbox.pending(quick.chat())) == 1


def test_a_probe_of_an_account_that_is_online_elsewhere_meanwhile_asks_for_a_login(quick: World) -> None:
    stopped(quick)
    other = f"{quick.share_id}-b"
    account = quick.bridge.channels.vault.open(quick.channel.sealed_account or "")
    quick.bridge.channels.add(Channel(id=other))
    login = Login(account=account, owner_user_id=quick.channel.owner_user_id or "")
    quick.bridge.channels.log_in(other, login, quick.bridge.clock.now())
    let_probe_be_due(quick)
    channel = quick.poll()
    assert (channel.status, channel.status_reason) == (ChannelStatus.ERROR, StatusReason.LOGIN_NEEDED)
    assert f"online in channel {other}" in (channel.last_error or "")
    polls = quick.polls()
    assert quick.poll().next_poll_at is None
    assert quick.polls() == polls
