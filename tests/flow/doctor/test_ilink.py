"""`doctor` on a personal account: its login and its last poll."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.support.world import World
from wechat_bridge.flow.doctor.look import Asked, diagnose
from wechat_bridge.flow.health.check import Check
from wechat_bridge.model.channel import Channel


def found(world: World, **fields: Any) -> list[Check]:
    """What is said of the channel with some fields changed."""
    channel = Channel.model_validate(world.channel.model_dump() | fields)
    return diagnose(world.bridge, world.wired.http, channel, Asked()).checks


def test_a_channel_that_was_just_polled_is_well(world: World) -> None:
    checks = found(world, last_poll_at=world.bridge.clock.after(-3))
    assert [(check.name, check.ok) for check in checks] == [("login", True), ("last poll", True)]
    assert world.bot_id in checks[0].detail
    assert "3 s ago" in checks[1].detail


def test_a_fresh_login_counts_as_a_sign_of_life(world: World) -> None:
    assert [check.ok for check in found(world, last_poll_at=None)] == [True, True]


def test_a_chain_that_stands_still_points_to_the_poll_worker(world: World) -> None:
    long_ago = world.bridge.clock.now() - timedelta(hours=1)
    [_, last] = found(world, last_poll_at=long_ago, login_time=long_ago)
    assert not last.ok
    assert "is a poll worker running?" in last.detail


@pytest.mark.parametrize("reason", ["never_logged_in", "logged_out", "login_needed"])
def test_a_channel_without_a_login_is_told_to_scan(world: World, reason: str) -> None:
    [login] = found(world, status="error", status_reason=reason)
    assert not login.ok
    assert login.detail.startswith(reason.replace("_", " "))
    assert f"wechat-bridge channel login {world.share_id}" in login.detail


def test_polls_that_fail_are_no_reason_to_scan(world: World) -> None:
    [login] = found(world, status="error", status_reason="failures", last_error="no route to host")
    assert not login.ok
    assert "polls fail (no route to host); it is probed until WeChat answers again" in login.detail
    assert "channel login" not in login.detail
