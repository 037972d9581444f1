"""When a chain ends, and when it goes on: channels that are empty, disabled, failing, or logged out (acceptance K)."""

from __future__ import annotations

import time

import pytest

from tests.support.system import System, wait_until
from tests.support.world import World
from wechat_bridge.flow.channel.switch import switch

pytestmark = pytest.mark.story


@pytest.mark.slow
def test_instant_empty_answers_do_not_spin(system: System) -> None:
    world = system.channel()
    system.wait_polling([world])
    system.control.script("getupdates", world.bot_id, times=200, answer={"msgs": [], "get_updates_buf": "B"})
    since = time.time()
    wait_until(lambda: time.time() - since > 8, 10, "eight seconds pass")
    polls = len(system.polls_since(world, since))
    system.control.clear_script()
    assert 1 <= polls <= 8, "at most one in 2 s (±20 %), as this system is set"


@pytest.mark.slow
def test_a_disabled_channel_is_not_polled_and_starts_within_four_seconds_when_enabled(system: System) -> None:
    world = system.channel()
    system.wait_polling([world])
    bridge = world.bridge
    switch(bridge, world.share_id, enabled=False)
    wait_until(lambda: world.channel.poll_owner is None, 8, "the chain ends with its open poll")
    ended_at = time.time()
    wait_until(lambda: time.time() - ended_at > 6, 8, "six seconds pass")
    assert system.polls_since(world, ended_at) == []
    switch(bridge, world.share_id, enabled=True)
    wait_until(lambda: system.polls_since(world, ended_at), 4, "it is polled again")


@pytest.mark.slow
def test_five_failures_stop_a_channel_until_a_probe_finds_it_well(system: System) -> None:
    world = system.channel()
    other = system.channel()
    system.wait_polling([world, other])
    bridge = world.bridge
    kinds: list[dict[str, object]] = [
        {"status": 524, "body": "<html>"},
        {"body": "{"},
        {"cut": True},
        {"answer": {"ret": -1}},
        {"status": 500},
    ]
    wait_until(lambda: world.channel.sync_buf, 10, "a poll succeeded")
    for kind in kinds:
        system.control.script("getupdates", world.bot_id, **({"body": ""} | kind))
    _skip_delays_until(world, "error")
    stopped_at = time.time()
    assert world.channel.status_reason == "failures"
    assert world.channel.sync_buf, "the cursor is kept"
    _probe_now(world)
    wait_until(lambda: world.channel.status == "online", 15, "the probe succeeds")
    assert system.polls_since(world, stopped_at)
    system.control.say(world.bot_id, world.user(), "well again")
    wait_until(lambda: system.heard(world) == ["well again"], 15, "it answers")
    assert bridge.channels.get(other.share_id).status == "online"  # type: ignore[union-attr]


@pytest.mark.slow
def test_an_ended_session_stops_at_once_and_only_a_login_starts_again(system: System) -> None:
    world = system.channel()
    system.wait_polling([world])
    system.control.expire_token(world.bot_id)
    wait_until(lambda: world.channel.status_reason == "login_needed", 10, "the session's end is noticed")
    ended_at = time.time()
    wait_until(lambda: time.time() - ended_at > 5, 8, "five seconds pass")
    assert system.polls_since(world, ended_at + 0.5) == []
    assert "login_needed" in system.log_of("poll")


def _skip_delays_until(world: World, status: str) -> None:
    """Wait for a status; the 10 s between failed polls are skipped by making the next one due."""

    def reached() -> bool:
        channel = world.channel
        if channel.poll_owner is None and channel.status == "online":
            world.bridge.doorbells.ring_poll(world.share_id, channel.generation)
        return channel.status == status

    wait_until(reached, 20, f"{world.share_id} is {status}")


def _probe_now(world: World) -> None:
    due = world.bridge.clock.now()
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": {"probe_at": due}})
