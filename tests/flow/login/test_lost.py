"""A QR login whose workers die, whose doorbells are lost or come twice, and whose servers are away."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.flow.login.scanning import Scan
from tests.support.variations import failing, unanswered, wrapping
from tests.support.world import World
from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable
from wechat_bridge.flow.login.step import chain_next_step, follow_login, ring_overdue_logins, take_step
from wechat_bridge.model.channel import ChannelStatus
from wechat_bridge.model.login import LoginPhase


@pytest.fixture
def world(qr_world: World) -> World:
    """A channel that is logged in, at a simulated WeChat that does not hold questions."""
    return qr_world


def test_a_step_rings_for_the_next_with_ids_only(world: World) -> None:
    scan = Scan.begin(world)
    login = scan.login
    follow_login(world.bridge, world.share_id, login.id, login.step)
    assert scan.rung() == [[world.share_id, login.id, login.step + 2]]


def test_a_doorbell_that_comes_twice_or_late_does_nothing(world: World) -> None:
    scan = Scan.begin(world)
    login = scan.login
    for _ in range(3):
        follow_login(world.bridge, world.share_id, login.id, login.step)
    follow_login(world.bridge, world.share_id, "another", login.step + 2)
    assert scan.login.step == login.step + 2
    assert len(scan.rung()) == 1


def test_nobody_rings_for_a_login_in_the_middle_of_a_step(world: World) -> None:
    scan = Scan.begin(world)
    login = scan.login
    busy = world.bridge.logins.take(world.share_id, login.id, login.step, world.bridge.clock.after(25))
    assert busy is not None
    chain_next_step(world.bridge, busy)
    assert scan.rung() == []


def test_a_login_that_has_ended_rings_no_more(world: World) -> None:
    scan = Scan.begin(world)
    scan.confirm()
    login = scan.login
    follow_login(world.bridge, world.share_id, login.id, login.step)
    assert scan.login.phase is LoginPhase.DONE
    assert scan.rung() == []


def at(world: World, seconds: float) -> World:
    """The world in which so many seconds have passed."""
    now = world.bridge.clock.now
    moved = wrapping(world, "clock", "now", lambda: now() + timedelta(seconds=seconds))
    return wrapping(moved, "clock", "after", lambda more: now() + timedelta(seconds=seconds + more))


def test_the_sweep_rings_for_a_lost_doorbell_once(world: World) -> None:
    scan = Scan.begin(world)
    login = scan.step()
    ring_overdue_logins(at(world, 3).bridge)
    assert scan.rung() == []
    ring_overdue_logins(at(world, 8).bridge)
    ring_overdue_logins(at(world, 9).bridge)
    assert scan.rung() == [[world.share_id, login.id, login.step]]


STEPS = ["before asking", "after asking", "after storing the account", "before ringing"]


@pytest.mark.parametrize("where", STEPS)
def test_a_worker_may_die_between_any_two_steps_and_the_login_goes_on(world: World, where: str) -> None:
    scan = Scan.begin(world)
    bot = scan.confirm()
    before, login = world.channel, scan.login
    with pytest.raises(Died):
        follow_login(dying(world, where).bridge, world.share_id, login.id, login.step)
    if where != "before ringing":
        later = at(world, 31)
        ring_overdue_logins(later.bridge)
        (args,) = scan.rung()
        follow_login(world.bridge, *args)
    assert scan.login.phase is LoginPhase.DONE
    assert (world.channel.account_id, world.channel.epoch) == (bot["ilink_bot_id"], before.epoch + 1)


class Died(BaseException):
    """Nothing after this happens, as when a process is killed."""


def dying(world: World, where: str) -> World:
    """The world whose process is killed there."""
    parts = {
        "before asking": ("channels", "get", False),
        "after asking": ("logins", "get", False),
        "after storing the account": ("channels", "log_in", True),
        "before ringing": ("logins", "write", True),
    }
    part, method, works = parts[where]
    real = getattr(getattr(world.bridge, part), method)

    def call(*args: Any, **kwargs: Any) -> Any:
        if works:
            real(*args, **kwargs)
        raise Died

    return wrapping(world, part, method, call)


def test_a_code_whose_worker_died_before_it_could_be_shown_is_fetched_again(world: World) -> None:
    scan = Scan.begin(world, {"status": "expired"})
    scan.step()
    login = scan.login
    with pytest.raises(Died):
        take_step(dying(world, "before asking").bridge, world.share_id, login.id, login.step)
    assert scan.step().phase is LoginPhase.SCAN


def test_a_ledger_that_is_away_when_the_login_is_confirmed_gets_the_account_later(world: World) -> None:
    scan = Scan.begin(world)
    bot = scan.confirm()
    login = scan.on(failing(world, "channels", "log_in", LedgerUnavailable("away"))).step()
    assert (login.has_ended, login.note) == (False, "still waiting (away)")
    assert scan.step().phase is LoginPhase.DONE
    assert world.channel.account_id == bot["ilink_bot_id"]


def test_an_account_whose_storing_was_not_answered_is_stored_once(world: World) -> None:
    scan = Scan.begin(world)
    bot, epoch = scan.confirm(), world.channel.epoch
    scan.on(unanswered(world, "channels", "log_in", LedgerUnavailable("away"))).step()
    assert scan.step().phase is LoginPhase.DONE
    assert (world.channel.account_id, world.channel.epoch) == (bot["ilink_bot_id"], epoch + 1)
    assert world.channel.status is ChannelStatus.ONLINE


def test_a_doorbell_that_redis_refuses_is_rung_by_the_sweep(world: World) -> None:
    scan = Scan.begin(world)
    login = scan.login
    refused = failing(world, "doorbells", "ring_login", BrokerUnavailable("away"))
    follow_login(refused.bridge, world.share_id, login.id, login.step)
    assert scan.rung() == []
    ring_overdue_logins(at(world, 8).bridge)
    assert scan.rung() == [[world.share_id, login.id, login.step + 2]]


def test_a_process_that_was_frozen_over_a_confirmed_answer_stores_nothing_over_a_newer_login(world: World) -> None:
    scan = Scan.begin(world)
    scan.confirm()
    real = world.bridge.channels.get

    def freeze(share_id: str) -> Any:
        other = scan.login
        take_step(world.bridge, share_id, other.id, other.step)  # somebody else takes over meanwhile
        world.bridge.channels.collection.update_one({"_id": share_id}, {"$set": {"account_id": "newer"}})
        return real(share_id)

    login = scan.login
    take_step(wrapping(world, "channels", "get", freeze).bridge, world.share_id, login.id, login.step)
    assert world.channel.account_id == "newer"


def test_no_more_logins_are_asked_about_at_once_than_allowed(world: World) -> None:
    scan = Scan.begin(world)
    login, slots = scan.login, world.bridge.login_slots
    most = world.bridge.settings.login.most_at_once
    taken = [slots.acquire(blocking=False) for _ in range(most)]
    try:
        follow_login(world.bridge, world.share_id, login.id, login.step)
    finally:
        for _ in taken:
            slots.release()
    assert scan.login.step == login.step
    assert scan.rung() == [[world.share_id, login.id, login.step]]
    follow_login(world.bridge, world.share_id, login.id, login.step)
    assert scan.login.step == login.step + 2


def test_a_channel_that_was_removed_meanwhile_ends_its_login(world: World) -> None:
    scan = Scan.begin(world)
    world.bridge.channels.collection.delete_one({"_id": world.share_id})
    assert scan.step().note == f"channel {world.share_id} was removed meanwhile"
