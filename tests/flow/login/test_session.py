"""Who is told that a login is needed, and how often."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.flow.polling import alerts
from tests.support.variations import failing, process, wrapping
from tests.support.world import World
from wechat_bridge.errors import LedgerUnavailable, SessionExpired
from wechat_bridge.flow.login.logged_in import complete_login
from wechat_bridge.flow.login.session import remind, session_ended
from wechat_bridge.model.channel import Account, Login, StatusReason

ENDED = SessionExpired("WeChat answered getconfig with -14")


def later(world: World, **passed: float) -> World:
    """The world in which so much time has passed."""
    now = world.bridge.clock.now
    return wrapping(world, "clock", "now", lambda: now() + timedelta(**passed))


def told(act: Callable[[], object]) -> float:
    """How many alerts an act raises."""
    before = alerts("login_needed")
    act()
    return alerts("login_needed") - before


@pytest.fixture(autouse=True)
def _nobody_else_waits(world: World) -> None:
    world.bridge.channels.collection.update_many({"_id": {"$ne": world.share_id}}, {"$set": {"enabled": False}})


def test_one_of_all_processes_tells_and_again_each_day_while_it_lasts(world: World) -> None:
    epoch = world.channel.epoch
    assert told(lambda: session_ended(world.bridge, world.share_id, epoch, ENDED)) == 1
    assert told(lambda: session_ended(process(world, "other").bridge, world.share_id, epoch, ENDED)) == 0
    assert told(lambda: remind(world.bridge)) == 0
    assert told(lambda: remind(later(world, hours=23).bridge)) == 0
    tomorrow = later(world, hours=24.1)
    assert told(lambda: remind(tomorrow.bridge)) == 1
    assert told(lambda: remind(tomorrow.bridge)) == 0
    assert told(lambda: remind(later(world, hours=49).bridge)) == 1


def test_the_alert_says_how_to_log_in(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    advice: list[str] = []
    monkeypatch.setattr("wechat_bridge.observe.alerts.raise_", lambda *args, **_: advice.append(args[2]))
    session_ended(world.bridge, world.share_id, world.channel.epoch, ENDED)
    assert f"wechat-bridge channel login {world.share_id}" in advice[0]
    assert "wechat_bridge.relogin" in advice[0]


def test_a_scan_ends_the_reminders_and_the_next_end_is_told_again(world: World) -> None:
    session_ended(world.bridge, world.share_id, world.channel.epoch, ENDED)
    log_in(world)
    assert told(lambda: remind(later(world, days=2).bridge)) == 0
    assert told(lambda: session_ended(world.bridge, world.share_id, world.channel.epoch, ENDED)) == 1


def test_a_process_that_died_before_it_told_is_replaced_by_the_sweep(world: World) -> None:
    broken = failing(world, "accounts", "claim_reminder", LedgerUnavailable("away"))
    with pytest.raises(LedgerUnavailable):
        session_ended(broken.bridge, world.share_id, world.channel.epoch, ENDED)
    assert world.channel.status_reason is StatusReason.LOGIN_NEEDED
    assert told(lambda: remind(world.bridge)) == 1


def test_the_end_of_an_older_login_is_nobodys_business(world: World) -> None:
    old = world.channel.epoch
    log_in(world)
    assert told(lambda: session_ended(world.bridge, world.share_id, old, ENDED)) == 0
    assert world.channel.status == "online"


def log_in(world: World) -> None:
    bot = world.control.create_bot()
    account = Account(token=bot["token"], account_id=bot["bot_id"], base_url=world.control.base_url)
    complete_login(world.bridge, world.share_id, Login(account=account, owner_user_id=bot["user_id"]))
