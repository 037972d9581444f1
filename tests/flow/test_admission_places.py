"""An engine that takes few questions at once; places that are given back whatever happens; no Redis at all."""

from __future__ import annotations

import threading

import pytest
from structlog.testing import capture_logs

from tests.flow.gated import Gated
from tests.support.variations import failing, using
from tests.support.world import World
from wechat_bridge.engines.base import Answer, Question
from wechat_bridge.errors import BrokerUnavailable, EngineUnavailable, LedgerUnavailable
from wechat_bridge.flow import reply, stop
from wechat_bridge.flow.crash import crashed
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.model.outcome import Done, GiveUp, RetryIn
from wechat_bridge.model.turn import TurnState

AWAY = EngineUnavailable("engine gpt (https://gpt.example): HTTP 503")


# a limit


class Busy:
    """An engine that answers when it is told to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked = threading.Semaphore(0)
        self.go = threading.Event()
        self.count = 0

    def answer(self, question: Question) -> Answer:
        """Wait, then answer."""
        self.count += 1
        self.asked.release()
        assert self.go.wait(20)
        return Answer("yes")


def test_when_an_engine_is_full_turns_wait_in_the_ledger_and_follow_one_by_one(world: World) -> None:
    gated = Gated.create(world, "unused", limit=1)
    busy = Busy(gated.engine.name)
    gated.world = using(gated.world, engines={busy.name: busy})
    first, *others = gated.turns("ann", "bob", "carl")
    worker = threading.Thread(target=gated.generate, args=(first,))
    worker.start()
    assert busy.asked.acquire(timeout=20)
    assert [gated.generate(turn) for turn in others] == [Done(), Done()]
    assert [gated.attempts(turn) for turn in others] == [(TurnState.QUEUED, 0)] * 2
    assert (gated.state.in_use, gated.state.waiting, busy.count) == (1, 2, 1)
    assert gated.generate(first) == Done(), "a second doorbell of the turn in work"
    busy.go.set()
    worker.join(20)
    assert gated.work() == 2, "each lets in the next"
    assert (gated.state.in_use, gated.state.waiting, busy.count) == (0, 0, 3)


def test_a_place_is_free_again_however_the_attempt_ends(world: World) -> None:
    gated = Gated.create(world, RuntimeError("a bug"), "", "yes", limit=1)
    bug, silent, stopped, last = gated.turns("ann", "bob", "carl", "dora")
    with pytest.raises(RuntimeError, match="a bug"):
        gated.generate(bug)
    assert isinstance(crashed(gated.world.bridge, bug.id, RuntimeError("a bug")), RetryIn)
    gated.generate(silent)
    assert stop.stop_turn(gated.world.bridge, stopped.chat_id, world.bridge.clock.now(), "stopped")
    gated.generate(stopped)
    assert gated.state.in_use == 0
    assert gated.world.answer(last).state is TurnState.SENT
    assert not gated.state.is_open


def test_a_turn_that_was_stopped_while_it_waited_lets_the_next_one_in(world: World) -> None:
    gated = Gated.create(world, AWAY)
    gated.shut()
    stopped, other = gated.turns("stopped", "other")
    for turn in (stopped, other):
        gated.generate(turn)
    stop.stop_turn(gated.world.bridge, stopped.chat_id, world.bridge.clock.now(), "stopped")
    gated.say("yes")
    gated.pass_pause()
    gated.generate(gated.turns("probe")[0])
    gated.work()
    assert (world.delivered("stopped"), world.delivered("other")) == ([], ["yes"])


# without Redis


def test_without_redis_everybody_is_let_in(world: World) -> None:
    gated = Gated.create(world, "yes", limit=1)
    away = failing(gated.world, "gates", "admit", BrokerUnavailable("Redis: away"))
    (turn,) = gated.turns("ann")
    with capture_logs() as lines:
        assert away.answer(turn).state is TurnState.SENT
    assert [line["engine"] for line in lines if line["event"] == "engine_not_guarded"] == [gated.engine.name]


def test_a_place_that_redis_did_not_take_back_is_given_back_as_soon_as_it_can(world: World) -> None:
    gated = Gated.create(world, "yes", limit=1)
    away = using(failing(gated.world, "gates", "leave", BrokerUnavailable("Redis: away")), unfinished=Unfinished())
    first, second = gated.turns("ann", "bob")
    assert away.answer(first).state is TurnState.SENT
    gated.generate(second)
    assert (gated.state.in_use, gated.state.waiting) == (1, 1)
    away.bridge.unfinished.work_off()
    gated.work()
    assert world.delivered("bob") == ["yes"]


def test_a_failure_that_cannot_be_told_counts_against_the_turn(world: World) -> None:
    gated = Gated.create(world, AWAY)
    away = using(failing(gated.world, "gates", "leave", BrokerUnavailable("Redis: away")), unfinished=Unfinished())
    (turn,) = gated.turns("ann")
    assert isinstance(reply.generate_reply(away.bridge, turn.id), RetryIn)


def test_an_attempt_that_the_ledger_did_not_take_back_is_given_back_as_soon_as_it_can(world: World) -> None:
    gated = Gated.create(world, AWAY)
    gated.shut()
    (turn,) = gated.turns("ann")
    away = using(failing(gated.world, "turns", "release", LedgerUnavailable("away")), unfinished=Unfinished())
    gated.pass_pause()
    with pytest.raises(LedgerUnavailable):
        reply.generate_reply(away.bridge, turn.id)
    assert gated.attempts(turn) == (TurnState.GENERATING, 1)
    away.bridge.unfinished.work_off()
    assert gated.attempts(turn) == (TurnState.QUEUED, 0)


def test_a_channel_that_cannot_be_read_is_reported_as_before(world: World) -> None:
    gated = Gated.create(world, "yes")
    (turn,) = gated.turns("ann")
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": {"kind": "pigeon"}})
    outcome = gated.generate(turn)
    assert isinstance(outcome, GiveUp)
    assert "kind does not fit" in outcome.reason
