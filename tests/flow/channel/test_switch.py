"""Switching a channel off and on."""

from __future__ import annotations

import pytest

from tests.flow.delivering import generated, send
from tests.flow.login.scanning import Scan
from tests.support.doorbells import taken
from tests.support.variations import failing
from tests.support.world import World
from wechat_bridge.errors import BrokerUnavailable, ChannelBusy, ChannelUnknown, NotConfigured
from wechat_bridge.flow.channel.switch import log_out, probe, remove, switch
from wechat_bridge.model.channel import Channel, StatusReason


def test_a_channel_that_is_switched_off_loses_its_poll_lock_and_is_not_polled(world: World) -> None:
    locks = world.bridge.locks
    assert locks.take(world.share_id, "owner", 1)
    switch(world.bridge, world.share_id, enabled=False)
    assert locks.keep(world.share_id, "owner", 1) is None
    assert not world.channel.is_pollable


def test_a_channel_that_is_switched_on_again_is_due_at_once_with_its_login(world: World) -> None:
    switch(world.bridge, world.share_id, enabled=False)
    switch(world.bridge, world.share_id, enabled=True)
    assert world.channel.is_pollable
    assert world.channel.next_poll_at is not None
    assert world.channel.next_poll_at <= world.bridge.clock.now()


def test_every_way_to_switch_names_a_channel_that_does_not_exist(world: World) -> None:
    for act in (lambda bridge: switch(bridge, "nobody", enabled=True), lambda bridge: log_out(bridge, "nobody"),
                lambda bridge: probe(bridge, "nobody"), lambda bridge: remove(bridge, "nobody")):  # fmt: skip
        with pytest.raises(ChannelUnknown, match="there is no channel nobody"):
            act(world.bridge)


def test_a_channel_that_is_logged_out_is_polled_no_more_and_keeps_what_it_has(world: World) -> None:
    turn = generated(world)
    locks = world.bridge.locks
    assert locks.take(world.share_id, "owner", 1)
    Scan.begin(world)
    log_out(world.bridge, world.share_id)
    assert locks.keep(world.share_id, "owner", 1) is None
    assert world.bridge.logins.get(world.share_id) is None
    assert (world.channel.sealed_account, world.channel.status_reason) == (None, StatusReason.LOGGED_OUT)
    world.poll()
    assert world.polls() == 0
    send(world, turn)
    assert (world.turn(turn.id).state, world.turn(turn.id).park_reason) == ("parked", "login_needed")


def test_a_logout_holds_while_redis_is_away(world: World) -> None:
    log_out(failing(world, "locks", "revoke", BrokerUnavailable("away")).bridge, world.share_id)
    assert not world.channel.is_pollable


def test_a_channel_is_not_removed_while_replies_are_under_way_unless_forced(world: World) -> None:
    turn = generated(world)
    with pytest.raises(ChannelBusy, match=r"1 replies .* --force"):
        remove(world.bridge, world.share_id)
    assert world.channel.sealed_account is not None
    assert remove(world.bridge, world.share_id, is_forced=True) == 1
    assert world.bridge.channels.get(world.share_id) is None
    assert world.turn(turn.id).answer == "hello"


def test_a_removed_channel_leaves_its_history_and_no_credentials(world: World) -> None:
    turn = generated(world)
    send(world, turn)
    assert remove(world.bridge, world.share_id) == 0
    assert world.bridge.channels.get(world.share_id) is None
    assert world.turn(turn.id).state == "sent"
    kept = world.bridge.accounts.removed.find_one({"_id": world.share_id})
    assert kept == {"_id": world.share_id, "epoch": 2}


def test_people_are_answered_with_new_tokens_when_a_removed_channel_is_added_again(world: World) -> None:
    send(world, generated(world))
    owner = world.channel
    remove(world.bridge, world.share_id)
    world.bridge.channels.add(Channel(id=world.share_id))
    assert world.channel.epoch > owner.epoch


def test_a_probe_makes_a_stopped_channel_due_now(world: World) -> None:
    soon = {"status": "error", "status_reason": "failures", "probe_at": world.bridge.clock.after(300)}
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": soon})
    assert probe(world.bridge, world.share_id).status_reason is StatusReason.FAILURES
    assert [bell.task for bell in taken(world, "poll")] == ["poll_channel"]
    world.poll()
    assert world.channel.status == "online"


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"enabled": False}, "is disabled; enable it"), ({"status_reason": "login_needed"}, "is not logged in")],
)
def test_a_channel_that_only_a_person_can_help_is_not_probed(
    world: World, changes: dict[str, object], why: str
) -> None:
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": {"status": "error", **changes}})
    with pytest.raises(NotConfigured, match=why):
        probe(world.bridge, world.share_id)
