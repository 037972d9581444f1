"""Seeding: chains that nobody living is about to continue are rung, each once, and no others."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime
from typing import Any

import pytest

import celeryconfig
from tests.support.doorbells import Doorbell, emptied, taken
from tests.support.together import together
from tests.support.variations import process, using
from tests.support.world import World
from wechat_bridge.flow import poll
from wechat_bridge.flow.login.logged_in import complete_login
from wechat_bridge.flow.seed import PASS_SECONDS, Seeder, seed_poll_chains
from wechat_bridge.model.channel import Account, Channel, Login
from wechat_bridge.model.worker import Judgement
from wechat_bridge.store import redis_keys
from wechat_bridge.store.poll_locks import MARKER_SECONDS


@pytest.fixture
def alone(world: World) -> World:
    """The only channel that the seeder may ring, due now; the poll queue is empty."""
    others = {"_id": {"$ne": world.share_id}}
    quiet = {"poll_owner": None, "next_poll_at": None, "probe_at": None, "link_deadline": None}
    world.bridge.channels.collection.update_many(others, {"$set": quiet})
    world.wired.redis.delete(redis_keys.queue("poll"))
    return world


def change(world: World, **fields: Any) -> None:
    """Change the channel's document."""
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": fields})


def seeded(world: World) -> list[Doorbell]:
    """The doorbells that a pass of the seeder rings for the channel."""
    seed_poll_chains(world.bridge)
    return taken(world, "poll")


def link(world: World, owner: str) -> Channel:
    """Let a process take the channel's link, with its lock."""
    channel, bridge = world.channel, world.bridge
    assert bridge.locks.take(channel.id, owner, channel.generation + 1)
    deadline = bridge.clock.after(180)
    found = bridge.channels.take_link(channel.id, channel.generation, owner, bridge.clock.now(), deadline)
    assert found is not None
    return found


def test_a_channel_that_is_due_is_rung_once(alone: World) -> None:
    rung = seeded(alone)
    assert [(each.task, each.args, each.expires) for each in rung] == [
        ("poll_channel", [alone.share_id, alone.channel.generation], None)
    ]
    assert seeded(alone) == []


def test_a_channel_that_is_not_due_yet_is_not_rung(alone: World) -> None:
    change(alone, next_poll_at=alone.bridge.clock.after(5))
    assert seeded(alone) == []


def test_a_doorbell_that_was_lost_is_replaced_once_its_marker_has_run_out(alone: World) -> None:
    assert len(seeded(alone)) == 1
    left_ms = int(str(alone.wired.redis.pttl(redis_keys.poll_next(alone.share_id))))
    assert 0 < left_ms <= MARKER_SECONDS * 1000
    alone.wired.redis.delete(redis_keys.poll_next(alone.share_id))  # what its expiry does
    assert len(seeded(alone)) == 1


def test_a_doorbell_that_still_waits_in_a_busy_queue_is_not_doubled(alone: World) -> None:
    seed_poll_chains(alone.bridge)
    alone.wired.redis.delete(redis_keys.poll_next(alone.share_id))
    seed_poll_chains(alone.bridge)
    assert len(taken(alone, "poll")) == 1


def test_a_flush_of_redis_ends_no_chain(alone: World) -> None:
    seed_poll_chains(alone.bridge)
    alone.wired.redis.flushdb()
    assert len(seeded(alone)) == 1


def test_a_link_that_a_living_process_serves_is_left_alone(alone: World) -> None:
    held = link(alone, "alive")
    assert seeded(process(alone, "me", dead=["somebody else"])) == []
    assert alone.channel == held


def test_the_link_of_a_dead_process_is_freed_with_its_lock_and_rung(alone: World) -> None:
    held = link(alone, "dead")
    rung = seeded(process(alone, "me", dead=["dead"]))
    assert [each.args for each in rung] == [[alone.share_id, held.generation]]
    assert alone.channel.poll_owner is None
    assert alone.bridge.locks.take(alone.share_id, "me", held.generation + 1)


def test_a_process_that_dies_between_its_lock_and_the_ledger_leaves_nothing_that_keeps_others_away(
    alone: World,
) -> None:
    assert alone.bridge.locks.take(alone.share_id, "dying", alone.channel.generation + 1)
    assert seeded(process(alone, "me")) == [], "it is about to poll"
    assert len(seeded(process(alone, "me", dead=["dying"]))) == 1


def seconds_until_next_pass(world: World, next_death_seconds: float | None) -> list[float]:
    """When the seeder wants another pass, in seconds from now, where an owner will be dead in so many."""
    emptied(world, "maintenance")
    seeding = process(world, "me")
    seeding.bridge.alive.next_death_seconds = next_death_seconds  # type: ignore[attr-defined]
    now = world.bridge.clock.now()
    seed_poll_chains(seeding.bridge)
    rung = emptied(world, "maintenance")
    assert {each.task for each in rung} <= {"seed_poll_chains"}
    return [(datetime.fromisoformat(str(each.eta)) - now).total_seconds() for each in rung]


def test_a_pass_comes_just_after_the_moment_at_which_an_owner_is_dead(alone: World) -> None:
    """Beat's own pass may come 2 s later, which would leave too little of the 12 s in which its chains are back."""
    (seconds,) = seconds_until_next_pass(alone, 1.2)
    assert 1.2 < seconds < 1.7


@pytest.mark.parametrize("next_death_seconds", [None, 2.5])
def test_while_nobody_is_about_to_die_beats_passes_do(alone: World, next_death_seconds: float | None) -> None:
    assert seconds_until_next_pass(alone, next_death_seconds) == []


def test_beat_rings_as_often_as_the_seeder_thinks() -> None:
    assert celeryconfig.beat_schedule["seed-poll-chains"]["schedule"] == PASS_SECONDS


def test_of_two_seeders_at_once_one_rings(alone: World) -> None:
    generation = alone.channel.generation
    others = [process(alone, f"seeder-{number}") for number in range(8)]
    together(len(others), lambda number: seed_poll_chains(others[number].bridge))
    assert [each.args for each in taken(alone, "poll")] == [[alone.share_id, generation]]


def test_the_marker_of_a_dead_process_counts_for_nothing(alone: World) -> None:
    """It rang and died, and its countdown with it."""
    alone.bridge.locks.announce(alone.share_id, "dead", 8)
    assert seeded(process(alone, "me")) == []
    assert len(seeded(process(alone, "me", dead=["dead"]))) == 1


def test_past_its_deadline_a_link_is_taken_even_from_a_living_process(alone: World) -> None:
    held = link(alone, "alive but stuck")
    alone.wired.redis.delete(redis_keys.poll_next(alone.share_id))  # what its expiry does
    change(alone, link_deadline=alone.bridge.clock.now())
    assert [each.args for each in seeded(process(alone, "me"))] == [[alone.share_id, held.generation]]
    following = link(alone, "another")
    assert not alone.bridge.channels.record_poll(held, {"sync_buf": "late"})
    assert alone.channel == following


@pytest.mark.parametrize("fields", [{"enabled": False}, {"status": "error", "status_reason": "login_needed"}])
def test_a_channel_that_must_not_be_polled_and_whose_process_died_is_rung_at_most_once(
    alone: World, fields: dict[str, Any]
) -> None:
    link(alone, "dead")
    change(alone, **fields)
    seeding = process(alone, "me", dead=["dead"])
    if seeded(seeding):
        alone.poll()
    alone.wired.redis.delete(redis_keys.poll_next(alone.share_id))
    assert seeded(seeding) == []
    assert alone.polls() == 0


def test_a_channel_that_is_logged_in_or_enabled_again_is_rung_by_the_next_pass_at_the_latest(alone: World) -> None:
    bridge = alone.bridge
    bridge.channels.set_enabled(alone.share_id, False, bridge.clock.now())
    assert seeded(alone) == []
    bridge.channels.set_enabled(alone.share_id, True, bridge.clock.now())
    assert len(seeded(alone)) == 1
    alone.wired.redis.delete(redis_keys.poll_next(alone.share_id))
    account = Account(token="t", account_id="b", base_url="http://127.0.0.1:9")
    complete_login(bridge, alone.share_id, Login(account=account, owner_user_id=alone.share_id))
    assert len(taken(alone, "poll") or seeded(alone)) == 1


def test_a_pass_waits_for_the_one_that_runs_in_its_process(alone: World) -> None:
    entered, go_on = threading.Event(), threading.Event()
    passes: list[int] = []

    def enter() -> Judgement:
        passes.append(len(passes))
        entered.set()
        assert go_on.wait(10)
        return Judgement()

    seeder, seeding = Seeder(), process(alone, "me")
    seeding.bridge.alive.judge = enter  # type: ignore[method-assign]
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(seeder.seed, seeding.bridge)
        assert entered.wait(10)
        second = pool.submit(seeder.seed, seeding.bridge)
        assert wait([second], 0.1).not_done
        assert passes == [0], "the second waits"
        go_on.set()
        first.result(10)
        second.result(10)
    assert passes == [0, 1]


def test_a_pass_gives_up_where_the_one_that_runs_outlasts_it(alone: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wechat_bridge.flow.seed.PASS_SECONDS", 0.05)
    seeder, seeding = Seeder(), process(alone, "me")
    passes: list[int] = []

    def again() -> Judgement:
        passes.append(len(passes))
        together(1, lambda _: seeder.seed(seeding.bridge))
        return Judgement()

    seeding.bridge.alive.judge = again  # type: ignore[method-assign]
    seeder.seed(seeding.bridge)
    assert passes == [0]


def test_ten_seeders_at_once_do_no_harm(alone: World) -> None:
    together(10, lambda _: seed_poll_chains(alone.bridge))
    doorbells = taken(alone, "poll")
    assert 1 <= len(doorbells) <= 10
    assert {tuple(each.args) for each in doorbells} == {(alone.share_id, alone.channel.generation)}
    alone.control.set_options(alone.bot_id, hold_seconds=0.02)
    for doorbell in doorbells:
        poll.poll_channel(alone.bridge, *doorbell.args)
    assert alone.polls() == 1


def test_a_hundred_channels_are_not_all_rung_for_the_same_instant(alone: World) -> None:
    bridge, now = alone.bridge, alone.bridge.clock.now()
    names = [f"{alone.share_id}-{number}" for number in range(100)]
    for name in names:
        bridge.channels.add(Channel(id=name, status="online", status_reason="", sealed_account="x", next_poll_at=now))
    delays: list[float] = []

    class Listening:
        """Notes the delays."""

        def __getattr__(self, name: str) -> Any:
            return getattr(bridge.doorbells, name)

        def ring_poll(self, share_id: str, generation: int, delay_seconds: float = 0) -> None:
            """Note a delay."""
            delays.append(delay_seconds)

    assert seed_poll_chains(using(alone, doorbells=Listening()).bridge) == 101
    assert max(delays) <= 4.0
    assert len({round(delay, 1) for delay in delays}) > 10
    bridge.channels.collection.delete_many({"_id": {"$in": names}})


def test_a_queue_with_more_doorbells_than_workers_can_use_gets_no_more(
    alone: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wechat_bridge.flow.seed.MOST_WAITING", 2)
    key = redis_keys.queue("poll")
    alone.wired.redis.rpush(key, *['{"headers":{"id":"poll:x:1"}}'] * 3)
    assert seed_poll_chains(alone.bridge) == 0
    alone.wired.redis.delete(key)
    assert seed_poll_chains(alone.bridge) == 1
