"""While the ledger is away messages wait in Redis, while both are away in the process; then each is answered once."""

from __future__ import annotations

import threading

import pytest

from tests.support.variations import failing, using
from tests.support.world import World
from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable
from wechat_bridge.flow import spill
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.model.message import InboundMessage

AWAY = LedgerUnavailable("away")


def keep(world: World, *messages: InboundMessage) -> None:
    """Hold on to messages that could not be stored."""
    spill.keep(world.bridge, world.channel, messages, "poll", AWAY)


def answer_all(world: World) -> list[str]:
    """Answer what waits; return what ann sees."""
    world.make_due()
    while (turn := world.flush()) is not None:
        world.answer(turn)
        world.make_due()
    return world.delivered()


def test_what_could_not_be_stored_is_stored_by_the_sweep_and_answered_once(world: World) -> None:
    keep(world, world.text("one"), world.text("two"))
    assert world.share_id in world.bridge.spill.channels()
    Sweeper().sweep(world.bridge)
    assert world.share_id not in world.bridge.spill.channels()
    assert answer_all(world) == ["one\ntwo"]


def test_the_next_link_stores_it_before_it_polls(quick: World) -> None:
    quick.control.say(quick.bot_id, quick.user(), "one")
    failing(quick, "inbox", "add", AWAY).poll()
    quick.control.say(quick.bot_id, quick.user(), "two")
    quick.poll()
    rows = quick.bridge.inbox.pending(quick.chat())
    assert [row.items[0].text for row in sorted(rows, key=lambda row: row.received_at)] == ["one", "two"]
    assert answer_all(quick) == ["one\ntwo"]


def test_nothing_is_polled_while_it_cannot_be_stored(quick: World) -> None:
    keep(quick, quick.text("one"))
    with pytest.raises(LedgerUnavailable):
        failing(quick, "inbox", "add", AWAY).poll()
    assert quick.polls() == 0
    assert quick.channel.next_poll_at is not None


def test_a_flush_of_redis_while_the_ledger_is_away_loses_nothing_that_a_living_process_holds(world: World) -> None:
    holding = using(world, unfinished=Unfinished())
    keep(holding, world.text("one"), world.text("two"))
    world.wired.redis.flushdb()
    Sweeper().sweep(world.bridge)
    assert answer_all(world) == []
    holding.bridge.unfinished.work_off()
    assert answer_all(world) == ["one\ntwo"]
    assert len(holding.bridge.unfinished) == 0


def test_a_long_spill_is_stored_by_its_process_over_several_beats_in_order(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "MOST_HELD", 2)
    holding = using(world, unfinished=Unfinished())
    for text in ("one", "two", "three"):
        keep(holding, world.text(text))
    holding.bridge.unfinished.work_off()
    assert len(world.bridge.inbox.pending(world.chat())) == 2
    assert len(holding.bridge.unfinished) == 1
    holding.bridge.unfinished.work_off()
    assert answer_all(world) == ["one\ntwo\nthree"]
    assert len(holding.bridge.unfinished) == 0


def test_a_process_holds_only_so_many_besides_the_spill(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "MOST_HELD", 2)
    holding = using(world, unfinished=Unfinished())
    for text in ("one", "two", "three"):
        keep(holding, world.text(text))
    world.wired.redis.flushdb()
    holding.bridge.unfinished.work_off()
    assert answer_all(world) == ["one\ntwo"]


def test_a_batch_that_was_stored_but_not_dropped_is_not_answered_twice(world: World) -> None:
    keep(world, world.text("one"))
    with pytest.raises(BrokerUnavailable):
        spill.drain_channel(failing(world, "spill", "drop", BrokerUnavailable("away")).bridge, world.share_id)
    assert answer_all(world) == ["one"]
    spill.drain_channel(world.bridge, world.share_id)
    assert answer_all(world) == ["one"]


def test_batches_are_drained_in_order(world: World) -> None:
    for text in ("one", "two", "three"):
        keep(world, world.text(text))
    spill.drain(world.bridge)
    assert answer_all(world) == ["one\ntwo\nthree"]


def test_what_was_spilled_twice_is_answered_once(world: World) -> None:
    one = world.text("one")
    keep(world, one)
    keep(world, one, world.text("two"))
    spill.drain(world.bridge)
    assert answer_all(world) == ["one\ntwo"]
    assert world.share_id not in world.bridge.spill.channels()


def test_a_long_spill_is_drained_over_several_passes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a pass of the sweep comes to its other work."""
    monkeypatch.setattr(spill, "MOST_DRAINED", 2)
    for text in ("one", "two", "three"):
        keep(world, world.text(text))
    spill.drain(world.bridge)
    assert len(world.bridge.inbox.pending(world.chat())) == 2
    assert world.share_id in world.bridge.spill.channels()
    spill.drain(world.bridge)
    assert answer_all(world) == ["one\ntwo\nthree"]
    assert world.share_id not in world.bridge.spill.channels()


def test_while_both_are_away_the_process_holds_on_until_one_is_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "PAUSE_SECONDS", 0.02)
    both = failing(world, "spill", "put", BrokerUnavailable("away"), times=3)
    both = failing(both, "inbox", "add", AWAY, times=2)
    keep(both, world.text("one"))
    assert world.share_id not in world.bridge.spill.channels()  # the ledger was back first
    assert answer_all(world) == ["one"]


def test_a_process_told_to_stop_while_both_are_away_does_not_hang(world: World) -> None:
    stopping = threading.Event()
    stopping.set()
    both = failing(world, "spill", "put", BrokerUnavailable("away"), times=99)
    both = using(failing(both, "inbox", "add", AWAY, times=99), stopping=stopping)
    keep(both, world.text("one"))
    assert world.bridge.inbox.pending(world.chat()) == []


def test_an_empty_answer_needs_no_spill(world: World) -> None:
    keep(world)
    assert world.share_id not in world.bridge.spill.channels()
