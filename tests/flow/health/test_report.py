"""The health report: what is well, what stops messages, what only wants attention, and what to do about each."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from celery import Celery

import celeryconfig
from tests.flow.people.admitting import OPERATOR, age, person, under, wrote
from tests.support import healthy
from tests.support.world import World, settings_for
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.health.report import Check, HealthReport, report
from wechat_bridge.flow.people import access_admin as admin
from wechat_bridge.flow.roles import QUEUES, ROLES
from wechat_bridge.model.access import Policy
from wechat_bridge.store import redis_keys
from wechat_bridge.store.conversations import Arrival
from wechat_bridge.store.windows import Window
from wechat_bridge.wiring import Wired, build


@pytest.fixture
def bridge(wired: Wired) -> Bridge:
    """A bridge in which all is well."""
    bridge = healthy.empty(wired)
    healthy.announce_all(bridge)
    healthy.add_channel(bridge, "fine")
    return bridge


def check(found: HealthReport, name: str) -> Check:
    return next(check for check in found.checks if check.name == name)


def red(found: HealthReport) -> set[str]:
    return {check.name for check in found.checks if not check.ok}


def assert_red(bridge: Bridge, name: str, *words: str) -> None:
    """One check alone is red, makes the bridge unhealthy and says these words."""
    found = report(bridge)
    assert red(found) == {name}
    assert not found.ok
    for word in words:
        assert word in check(found, name).detail


def assert_warning(bridge: Bridge, name: str, *words: str) -> None:
    """One check alone is not well, but the bridge is."""
    found = report(bridge)
    assert red(found) == {name}
    assert found.ok
    for word in words:
        assert word in check(found, name).detail


def test_a_bridge_with_every_process_and_polled_channels_is_healthy(bridge: Bridge) -> None:
    found = report(bridge)
    assert red(found) == set()
    assert found.ok


@pytest.mark.parametrize("kind", [*ROLES, "beat"])
def test_a_missing_process_is_named_with_how_to_start_it(bridge: Bridge, kind: str) -> None:
    healthy.announce(bridge, f"host:1:{kind}", age_seconds=9, kind="worker" if kind in ROLES else kind)
    found = report(bridge)
    name = "beat" if kind == "beat" else f"{kind}_workers"
    assert name in red(found)
    assert not found.ok
    assert f"start the process {kind}" in check(found, name).detail


def test_a_queue_without_a_reader_is_named_though_its_kind_is_alive(bridge: Bridge) -> None:
    healthy.announce(bridge, "host:1:reply", queues=("reply", "deliver"), slots=10)
    assert_red(bridge, "reply_workers", "no living worker reads events, inbox")


def test_thirty_channels_on_ten_threads_want_another_poll_worker(bridge: Bridge) -> None:
    for number in range(29):
        healthy.add_channel(bridge, f"more-{number}")
    assert_red(bridge, "poll_slots", "add a poll worker: 30 channels, 10 slots")
    healthy.announce(bridge, "host:2:poll", queues=("poll",), slots=20)
    assert report(bridge).ok


@pytest.mark.parametrize(
    ("age_seconds", "hold_seconds", "is_red"), [(104, 35, False), (107, 35, True), (130, 65, False)]
)
def test_a_chain_stands_still_when_its_last_poll_is_too_old(
    bridge: Bridge, age_seconds: float, hold_seconds: float, is_red: bool
) -> None:
    healthy.add_channel(
        bridge, "old", polled_seconds_ago=age_seconds, hold_hint_seconds=hold_seconds, next_poll_at=None
    )
    found = report(bridge)
    assert red(found) == ({"poll_chains"} if is_red else set())
    assert ("old for" in check(found, "poll_chains").detail) is is_red


def test_channels_that_take_turns_on_too_few_threads_do_not_stand_still(bridge: Bridge) -> None:
    for number in range(29):
        healthy.add_channel(bridge, f"more-{number}", polled_seconds_ago=150)
    assert red(report(bridge)) == {"poll_slots"}


def test_a_poll_that_is_open_now_counts_unless_its_owner_is_dead(bridge: Bridge) -> None:
    deadline = bridge.clock.after(170)  # of the 180 s of a link
    open_now = {"poll_owner": "host:1:poll", "link_deadline": deadline, "next_poll_at": None}
    healthy.add_channel(bridge, "back", polled_seconds_ago=9_000, **open_now)
    assert report(bridge).ok
    healthy.announce(bridge, "host:1:poll", age_seconds=9, queues=("poll",), slots=10)
    healthy.announce(bridge, "host:2:poll", queues=("poll",), slots=10)
    assert_red(bridge, "poll_chains", "back for 9000 s")


def test_a_chain_that_runs_while_wechat_fails_is_shown_but_is_not_our_fault(bridge: Bridge) -> None:
    healthy.add_channel(bridge, "unlucky", polled_seconds_ago=150, last_error="WeChat answered 502")
    assert_warning(bridge, "channels", "unlucky", "WeChat answered 502")


def test_a_chain_that_stands_still_after_an_error_is_our_fault(bridge: Bridge) -> None:
    late = bridge.clock.after(-90)
    healthy.add_channel(bridge, "left", polled_seconds_ago=200, last_error="502", next_poll_at=late)
    assert red(report(bridge)) == {"poll_chains", "channels"}


def test_a_login_that_has_ended_is_a_warning_with_the_command_to_run(bridge: Bridge) -> None:
    healthy.add_channel(bridge, "gone", polled_seconds_ago=9_000, status="error", status_reason="login_needed")
    assert_warning(bridge, "channels", "wechat-bridge channel login gone")


def test_a_channel_that_is_switched_off_is_not_missed(bridge: Bridge) -> None:
    healthy.add_channel(bridge, "off", polled_seconds_ago=9_000, enabled=False)
    healthy.add_channel(bridge, "never", polled_seconds_ago=9_000, status="offline")
    assert report(bridge).ok


def test_a_turn_that_waits_a_minute_for_a_worker_is_red(bridge: Bridge) -> None:
    healthy.open_turn(bridge, due_seconds_ago=55)
    assert report(bridge).ok
    healthy.open_turn(bridge, due_seconds_ago=65)
    assert_red(bridge, "turns", "2 due", "reply worker")


def test_a_turn_whose_lost_worker_nobody_replaces_is_red(bridge: Bridge) -> None:
    healthy.open_turn(bridge, state="generating", owner="host:9:gone", lease_until=bridge.clock.after(-40))
    assert_red(bridge, "turns", "lost worker", "beat and ops")


def test_parked_replies_are_shown_with_their_reason_and_are_no_fault(bridge: Bridge) -> None:
    healthy.open_turn(bridge, due_seconds_ago=9_000, state="parked", ring_at=None, park_reason="send_budget")
    found = report(bridge)
    assert found.ok
    assert "1 because of send_budget" in check(found, "parked").detail


def test_strangers_who_wait_with_a_code_are_told_and_are_no_fault(bridge: Bridge, world: World) -> None:
    assert check(report(bridge), "pairing").detail == "nobody waits to be let in"
    under(world, Policy.PAIRING)
    for name in ("ann", "bob", "cid", "dee"):
        wrote(world, "hello", name=name)
    found = report(bridge)
    assert (check(found, "pairing").ok, red(found)) == (True, set())
    assert f"with a code, {world.share_id}: 3. See who: wechat-bridge access list" in check(found, "pairing").detail
    age(world, 3601, "bob")
    admin.approve(bridge, world.share_id, person(world, "cid").code, OPERATOR)
    assert f"{world.share_id}: 1." in check(report(bridge), "pairing").detail


def test_messages_that_do_not_become_a_turn_are_red(bridge: Bridge) -> None:
    then = bridge.clock.after(-70)
    arrival = Arrival("chat", "channel", "user", 1, "token", 1, then, then, 10)
    bridge.conversations.arm(arrival, Window(1, 5, 20), then)
    assert_red(bridge, "messages", "due for 69 s", "reply worker")


@pytest.mark.parametrize(("queue", "length"), [("maintenance", 41), ("reply", 501), ("dead_letter", 501)])
def test_a_queue_that_nobody_empties_is_red_though_its_worker_says_it_lives(
    bridge: Bridge, wired: Wired, queue: str, length: int
) -> None:
    wired.redis.rpush(redis_keys.queue(queue), *["doorbell"] * (length - 1))
    assert report(bridge).ok
    wired.redis.rpush(redis_keys.queue(queue), "doorbell")
    assert_red(bridge, "queues", f"{queue} {length}")


def test_messages_outside_the_ledger_are_red(bridge: Bridge) -> None:
    bridge.spill.put("fine", [])
    assert_red(bridge, "spill", "fine", "MongoDB")


def test_dead_letters_that_wait_outside_the_ledger_are_told(bridge: Bridge) -> None:
    now = bridge.clock.now()
    for number in range(2):
        bridge.dead_spill.put(healthy.letter(f"letter-{number}", "fine", now))
    assert_red(bridge, "spill", "2 dead letters", "MongoDB")


def test_dead_letters_are_a_warning_with_count_and_age_by_channel(bridge: Bridge) -> None:
    then = bridge.clock.after(-7_200)
    for number in range(3):
        bridge.dead_letters.record(healthy.letter(f"turn-{number}", "fine", then))
    assert_warning(bridge, "dead_letters", "fine: 3, the oldest 2.0 h")


def test_services_that_are_away_are_named_within_seconds_and_nothing_is_raised() -> None:
    app = Celery("away", config_source="celeryconfig")
    parts = build(settings_for("redis://127.0.0.1:1/0", "mongodb://127.0.0.1:1/away"), app)
    started = time.monotonic()
    found = report(parts.bridge)
    parts.close()
    assert time.monotonic() - started < 5
    assert red(found) == {"ledger", "broker"} == {check.name for check in found.checks}
    assert not found.ok
    assert "start MongoDB" in check(found, "ledger").detail


def test_a_document_that_does_not_fit_is_named_and_nothing_is_raised(bridge: Bridge) -> None:
    bridge.channels.collection.update_one({"_id": "fine"}, {"$set": {"kind": "pigeon"}})
    assert_red(bridge, "ledger", "channels fine: kind does not fit")


def test_the_report_shows_no_secret(world: World) -> None:
    account = world.bridge.channels.vault.open(world.channel.sealed_account or "")
    text = report(world.bridge).model_dump_json()
    assert account.token not in text
    assert (world.channel.sealed_account or "") not in text


def test_the_kinds_read_the_queues_of_celeryconfig_and_of_the_procfile(repository: Path) -> None:
    assert sorted(QUEUES) == sorted(queue.name for queue in celeryconfig.task_queues)
    procfile = dict(re.findall(r"^(\w+): .* -Q (\S+)", (repository / "Procfile").read_text(), re.MULTILINE))
    assert procfile == {kind: ",".join(queues) for kind, queues in ROLES.items()}
