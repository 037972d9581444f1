"""A MongoDB whose clock is ten minutes behind after a failover (report 53), and ahead again after the next one.

What this process measures moves against the server's time by as much as its boot clock is moved here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from tests.flow.customer_service.fixtures import service
from tests.flow.test_heartbeat import Life, dead, eventually
from tests.support.customer_world import CustomerWorld
from tests.support.variations import setting, using
from tests.support.world import World
from wechat_bridge.flow import poll
from wechat_bridge.flow.seed import seed_poll_chains
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.model import keys
from wechat_bridge.store import ledger
from wechat_bridge.store.clock import LedgerClock, boot_seconds

__all__ = ["service"]

TEN_MINUTES = timedelta(minutes=10)
Shift = Callable[[float], None]


@pytest.fixture
def server_goes_back(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shift]:
    """Let the server's clock go back by so many seconds, as seen from here."""
    shifted = 0.0
    monkeypatch.setattr("wechat_bridge.store.clock.boot_seconds", lambda: boot_seconds() + shifted)

    def shift(seconds: float) -> None:
        nonlocal shifted
        shifted += seconds

    yield shift
    monkeypatch.undo()
    world.bridge.clock.measure()


@pytest.fixture
def clock(world: World, server_goes_back: Shift) -> Iterator[LedgerClock]:
    """A clock of its own that has measured several times."""
    with ledger.connect(world.bridge.settings.mongodb_url) as client:
        measured = LedgerClock(client)
        for _ in range(5):
            measured.measure()
        yield measured


@pytest.fixture
def life(world: World, clock: LedgerClock) -> Iterator[Life]:
    """A process with that clock, which may judge others."""
    found = Life(world)
    found.clock = clock
    found.heartbeat._clock = clock
    found.others_last_seen("gone", 30)
    found.heartbeat.start()
    assert eventually(world, lambda: "gone" in dead(found))
    yield found
    found.heartbeat.stop()


@pytest.mark.parametrize("seconds", [600.0, -600.0])
def test_the_first_measurement_after_a_jump_counts(clock: LedgerClock, server_goes_back: Shift, seconds: float) -> None:
    before = clock.now()
    server_goes_back(seconds)
    clock.measure()
    assert abs(clock.now() - before) < timedelta(seconds=5)
    assert clock.jumps == 1


@pytest.mark.parametrize("seconds", [600.0, -600.0])
def test_nobody_living_is_judged_dead_when_the_clock_jumps(
    world: World, life: Life, server_goes_back: Shift, seconds: float
) -> None:
    life.others_last_seen("living", 0)
    server_goes_back(seconds)
    judged = {owner for _ in range(100) for owner in dead(life)}
    assert "living" not in judged
    assert life.clock.jumps == 1, "it has noticed"


def test_who_died_after_it_was_seen_by_the_old_clock_is_dead(world: World, life: Life) -> None:
    life.others_last_seen("seen by the old clock", -600)
    assert eventually(world, lambda: "seen by the old clock" in dead(life))


def test_what_was_due_by_the_old_clock_is_answered_now_and_in_order(world: World) -> None:
    quick = setting(setting(world, "reply", pacing_seconds=0), "debounce", idle_seconds=0)
    quick.receive(quick.text("before", sent_at=world.bridge.clock.now() - timedelta(seconds=9)))
    _written_by_the_old_clock(quick)
    quick.receive(quick.text("after", sent_at=world.bridge.clock.now()))
    Sweeper().sweep(quick.bridge)
    for _ in range(2):
        turn = quick.flush()
        assert turn is not None
        quick.answer(turn)
    assert quick.delivered() == ["before", "after"]


def test_a_turn_that_was_due_by_the_old_clock_is_answered_now(world: World) -> None:
    world.receive(world.text("hello"))
    world.make_due()
    turn = world.flush()
    assert turn is not None
    _written_by_the_old_clock(world)
    assert world.answer(turn).answer is None
    Sweeper().sweep(world.bridge)
    assert world.answer(turn).state == "sent"
    assert world.delivered() == ["hello"]


def test_a_chain_goes_on_and_its_cursor_moves(world: World) -> None:
    world.control.set_options(world.bot_id, hold_seconds=0.02)
    _written_by_the_old_clock(world)
    world.wired.redis.flushdb()
    Sweeper().sweep(world.bridge)
    assert seed_poll_chains(world.bridge) >= 1
    cursor = world.channel.sync_buf
    poll.poll_channel(world.bridge, world.share_id, world.channel.generation)
    assert world.channel.sync_buf != cursor


def test_an_account_of_customer_service_is_read_now_though_nobody_rings(service: CustomerWorld) -> None:
    service.pull()
    _written_by_the_old_clock(service)
    Sweeper().sweep(service.bridge)
    assert service.is_due


def test_an_account_that_is_due_as_late_as_ever_stays_so(service: CustomerWorld) -> None:
    service.pull()
    due_at = service.service.due_at
    Sweeper().sweep(service.bridge)
    assert service.service.due_at == due_at


def test_a_sweeper_notices_that_the_clock_went_back_and_what_waits_keeps_its_order(
    world: World, clock: LedgerClock, server_goes_back: Shift
) -> None:
    sweeper, shifted = Sweeper(), using(world, clock=clock)
    sweeper.sweep(shifted.bridge)
    said_at = world.bridge.clock.now() + TEN_MINUTES  # WeChat's clock did not go back
    before = world.text("before", sent_at=said_at)
    world.receive(before)
    _written_by_the_old_clock(world)
    server_goes_back(600)
    sweeper.sweep(shifted.bridge)
    assert world.flush() is None, "the old clock is believed until it is measured again"
    clock.measure()
    sweeper.sweep(shifted.bridge)
    after = world.text("after", sent_at=said_at + timedelta(seconds=1))
    world.receive(after)
    world.make_due()
    turn = world.flush()
    assert turn is not None
    assert turn.message_ids == tuple(keys.inbox_id(world.share_id, each.message_id) for each in (before, after))


def _written_by_the_old_clock(world: World) -> None:
    """Move every time that was written so far ten minutes ahead."""
    bridge = world.bridge
    fields = {
        bridge.conversations.collection: ("flush_at", "flush_deadline", "ring_at"),
        bridge.turns.collection: ("next_attempt_at", "ring_at"),
        bridge.channels.collection: ("next_poll_at", "probe_at", "link_deadline"),
        bridge.inbox.collection: ("received_at",),
        bridge.services.collection: ("due_at",),
    }
    for collection, names in fields.items():
        for row in collection.find({"$or": [{"_id": {"$regex": world.share_id}}, {"share_id": world.share_id}]}):
            changes = {name: row[name] + TEN_MINUTES for name in names if row.get(name)}
            collection.update_one({"_id": row["_id"]}, {"$set": changes or {"untouched": True}})
