"""What a confirmed login sets in motion."""

from __future__ import annotations

import pytest
from celery import Celery

from tests.flow.polling import alerts
from tests.support.world import World, settings_for
from wechat_bridge.errors import ChannelUnknown
from wechat_bridge.flow.login.logged_in import complete_login
from wechat_bridge.local.ports import free_port
from wechat_bridge.model.channel import Account, ChannelStatus, Login, StatusReason
from wechat_bridge.simulators.ilink import IlinkSimulator
from wechat_bridge.wiring import Wired, build


def new_login(world: World, person: str = "") -> Login:
    bot = world.control.create_bot(user_id=person)
    world.control.set_options(bot["bot_id"], check_context_token=False)
    account = Account(token=bot["token"], account_id=bot["bot_id"], base_url=world.control.base_url)
    return Login(account=account, owner_user_id=bot["user_id"])


def test_the_channel_receives_with_the_new_account_from_the_start_of_its_cursor(world: World) -> None:
    world.bridge.channels.collection.update_one(
        {"_id": world.share_id}, {"$set": {"status": "error", "status_reason": "login_needed", "sync_buf": "old"}}
    )
    before = world.channel
    login = new_login(world)
    complete_login(world.bridge, world.share_id, login)
    now = world.channel
    assert (now.status, now.account_id) == (ChannelStatus.ONLINE, login.account.account_id)
    assert (now.sync_buf, now.epoch) == ("", before.epoch + 1)
    assert world.bridge.channels.vault.open(now.sealed_account or "") == login.account


def test_its_poll_chain_is_rung_at_once(world: World) -> None:
    complete_login(world.bridge, world.share_id, new_login(world))
    waiting = world.bridge.doorbells.waiting_polls(1000)
    assert waiting is not None
    assert world.share_id in waiting


def test_the_chain_of_the_login_before_loses_its_lock(world: World) -> None:
    locks = world.bridge.locks
    assert locks.take(world.share_id, "old-owner", 1)
    complete_login(world.bridge, world.share_id, new_login(world))
    assert locks.keep(world.share_id, "old-owner", 1) is None
    assert locks.take(world.share_id, "new-owner", 2)


def test_failures_of_the_login_before_do_not_count(world: World) -> None:
    for _ in range(4):
        world.bridge.locks.count_failure(world.share_id, 300)
    complete_login(world.bridge, world.share_id, new_login(world))
    assert world.bridge.locks.count_failure(world.share_id, 300) == 1


def test_a_reply_that_waited_for_the_login_goes_out(world: World) -> None:
    world.receive(world.text("hello"))
    world.make_due()
    turn = world.flush()
    assert turn is not None
    world.control.expire_token(world.bot_id)
    parked = world.answer(turn)
    assert (parked.state, parked.park_reason) == ("parked", "login_needed")
    complete_login(world.bridge, world.share_id, new_login(world))
    assert world.answer(turn).state == "sent"
    assert world.delivered() == ["hello"]


def test_a_login_for_a_channel_that_does_not_exist_is_refused(world: World) -> None:
    with pytest.raises(ChannelUnknown, match="wechat-bridge channel add nobody"):
        complete_login(world.bridge, "nobody", new_login(world))


def test_the_same_login_once_more_changes_nothing(world: World) -> None:
    login = new_login(world)
    complete_login(world.bridge, world.share_id, login)
    before = world.channel
    complete_login(world.bridge, world.share_id, login)
    assert world.channel == before


# Field report 46: WeChat binds a person to one bot


def test_the_channel_that_had_this_person_needs_a_login_at_once_and_is_no_zombie(world: World, wired: Wired) -> None:
    other = World.create(wired, world.control, world.control.base_url)
    before = alerts("login_needed")
    locks = world.bridge.locks
    assert locks.take(world.share_id, "owner", 1)
    complete_login(world.bridge, other.share_id, new_login(other, world.channel.owner_user_id or ""))
    assert other.channel.status is ChannelStatus.ONLINE
    channel = world.channel
    assert (channel.status, channel.status_reason) == (ChannelStatus.ERROR, StatusReason.LOGIN_NEEDED)
    assert f"was logged in to channel {other.share_id}" in (channel.last_error or "")
    assert not channel.is_pollable
    assert locks.keep(world.share_id, "owner", 1) is None
    assert alerts("login_needed") == before + 1


def test_a_channel_that_waits_for_a_probe_loses_its_person_too(world: World, wired: Wired) -> None:
    other = World.create(wired, world.control, world.control.base_url)
    failing = {"status": "error", "status_reason": "failures", "probe_at": world.bridge.clock.now()}
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": failing})
    complete_login(world.bridge, other.share_id, new_login(other, world.channel.owner_user_id or ""))
    assert world.channel.status_reason is StatusReason.LOGIN_NEEDED


def test_channels_of_other_people_are_left_alone(world: World, wired: Wired) -> None:
    other = World.create(wired, world.control, world.control.base_url)
    before = world.channel
    complete_login(world.bridge, other.share_id, new_login(other))
    assert world.channel == before


def test_a_login_holds_while_redis_is_away(world: World, urls: tuple[str, str], simulator: IlinkSimulator) -> None:
    nowhere = f"redis://127.0.0.1:{free_port()}/0"
    app = Celery("test")
    app.config_from_object("celeryconfig")
    app.conf.broker_url = nowhere
    parts = build(settings_for(nowhere, urls[1]), app)
    try:
        complete_login(parts.bridge, world.share_id, new_login(world))
    finally:
        parts.close()
    assert (world.channel.status, world.channel.epoch) == (ChannelStatus.ONLINE, 2)
    assert world.channel.next_poll_at is not None  # the seeder's sign
