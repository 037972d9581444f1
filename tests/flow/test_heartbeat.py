"""Whether this process may act, and whom it may call dead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest

from tests.support.world import World
from wechat_bridge.errors import LedgerUnavailable, OwnerStale
from wechat_bridge.flow.heartbeat import Heartbeat
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.model import keys
from wechat_bridge.model.worker import Worker
from wechat_bridge.settings import OwnerSettings
from wechat_bridge.store.workers import WorkerStore

QUICK = OwnerSettings(beat_seconds=0.05, dead_after_seconds=2.0, steady_seconds=0.3, stale_after_seconds=1.0)
PATIENCE_SECONDS = 10.0


class Workers(WorkerStore):
    """The collection of workers, which can be made unreachable."""

    away = False

    def seen(self, owner: str) -> bool:
        """Fail while away."""
        if self.away:
            raise LedgerUnavailable("away")
        return super().seen(owner)


class Life:
    """One process with a heartbeat of its own."""

    def __init__(self, world: World, settings: OwnerSettings = QUICK) -> None:
        self.clock = world.bridge.clock
        self.workers = Workers(world.bridge.workers.collection.database)
        self.unfinished = Unfinished()
        self.owner = keys.new_owner("host", 1)
        self.heartbeat = Heartbeat(self.describe, self.owner, self.workers, self.clock, self.unfinished, settings)

    def describe(self) -> Worker:
        """The process as it announces itself."""
        now = self.clock.now()
        return Worker(id=self.owner, kind="test", seen_at=now, started_at=now, version="1")

    def others_last_seen(self, name: str, seconds_ago: float) -> None:
        """Let another process have been seen so long ago."""
        seen_at = self.clock.now() - timedelta(seconds=seconds_ago)
        self.workers.announce(Worker(id=name, kind="test", seen_at=seen_at, started_at=seen_at, version="1"))


@pytest.fixture
def life(world: World) -> Iterator[Life]:
    """A process that has just started."""
    found = Life(world)
    found.heartbeat.start()
    yield found
    found.workers.away = False
    found.heartbeat.stop()


def eventually(world: World, condition: Any) -> bool:
    """Wait until a condition holds, with a deadline."""
    deadline = world.bridge.clock.after(PATIENCE_SECONDS)
    while world.bridge.clock.now() < deadline:
        if condition():
            return True
        world.bridge.stopping.wait(0.02)
    return False


def is_stale(life: Life) -> bool:
    """Whether the process may not act."""
    try:
        life.heartbeat.check()
    except OwnerStale:
        return True
    return False


def dead(life: Life) -> Sequence[str]:
    """Whom the process calls dead; nobody while it may not act."""
    return [] if is_stale(life) else life.heartbeat.dead_owners()


def test_a_process_that_was_never_started_may_not_act(world: World) -> None:
    with pytest.raises(OwnerStale):
        Life(world).heartbeat.check()


def test_a_started_process_is_seen_and_may_act(world: World, life: Life) -> None:
    life.heartbeat.check()
    first = next(each for each in life.workers.all() if each.id == life.owner)
    assert eventually(world, lambda: next(w for w in life.workers.all() if w.id == life.owner).seen_at > first.seen_at)


def test_a_process_that_does_not_reach_the_ledger_may_not_act_and_may_again_afterwards(
    world: World, life: Life
) -> None:
    life.workers.away = True
    assert eventually(world, lambda: is_stale(life))
    life.workers.away = False
    assert eventually(world, lambda: not is_stale(life))


def test_who_was_not_seen_for_too_long_is_dead_and_who_was_is_not(world: World, life: Life) -> None:
    life.others_last_seen("gone", 30)
    life.others_last_seen("living", -1)
    assert eventually(world, lambda: "gone" in dead(life))
    assert "living" not in dead(life)


def test_who_is_about_to_die_is_told_with_the_seconds_that_are_left(world: World, life: Life) -> None:
    seen_seconds_ago = QUICK.stale_after_seconds + 0.1

    told: list[float] = []

    def is_told() -> bool:
        life.others_last_seen("overdue", seen_seconds_ago)
        left = None if is_stale(life) else life.heartbeat.judge().next_death_seconds
        told.extend([] if left is None else [left])
        return bool(told)

    life.workers.collection.delete_many({"_id": {"$ne": life.owner}})
    assert eventually(world, is_told)
    assert 0 < told[0] <= QUICK.dead_after_seconds - seen_seconds_ago


def test_nobody_who_is_seen_is_about_to_die(world: World, life: Life) -> None:
    life.workers.collection.delete_many({"_id": {"$ne": life.owner}})
    life.others_last_seen("gone", 30)
    assert eventually(world, lambda: dead(life)), "it judges"
    life.others_last_seen("living", 0)
    assert life.heartbeat.judge().next_death_seconds is None


def test_a_process_that_has_just_started_judges_nobody(world: World) -> None:
    newborn = Life(world, OwnerSettings(beat_seconds=0.05))
    newborn.others_last_seen("gone", 30)
    newborn.heartbeat.start()
    assert list(newborn.heartbeat.dead_owners()) == []
    newborn.heartbeat.stop()


def test_a_process_back_from_an_outage_judges_nobody_for_a_while(world: World, life: Life) -> None:
    """During the outage nobody could write; all others would look dead."""
    life.others_last_seen("gone", 30)
    assert eventually(world, lambda: dead(life))
    life.workers.away = True
    assert eventually(world, lambda: not dead(life))
    life.workers.away = False
    assert eventually(world, lambda: not is_stale(life))
    assert eventually(world, lambda: dead(life))


def test_a_process_whose_document_was_removed_announces_itself_again(world: World, life: Life) -> None:
    life.workers.collection.delete_one({"_id": life.owner})
    assert eventually(world, lambda: any(each.id == life.owner for each in life.workers.all()))


def test_a_process_that_leaves_counts_as_dead_at_once(world: World, life: Life) -> None:
    other = Life(world)
    other.heartbeat.start()
    other.heartbeat.stop()
    assert eventually(world, lambda: other.owner in dead(life))


def test_what_was_left_unfinished_is_worked_off_with_the_beats_and_at_the_end(world: World, life: Life) -> None:
    done: list[str] = []
    life.unfinished.add("a", lambda: done.append("a"))
    assert eventually(world, lambda: done == ["a"])
    other = Life(world, OwnerSettings(beat_seconds=60.0))
    other.heartbeat.start()
    other.unfinished.add("b", lambda: done.append("b"))
    other.heartbeat.stop()
    assert done == ["a", "b"]
