"""The sweep in front of the engines: who is rung, who is spared a ring, and what the operator hears."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.flow.gated import Gated, age, overdue
from tests.support.doorbells import taken
from tests.support.variations import process, using
from tests.support.world import World
from wechat_bridge.errors import EngineUnavailable
from wechat_bridge.flow import engine_watch
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.model import keys
from wechat_bridge.model.turn import Turn, TurnState
from wechat_bridge.simulators.ilink import IlinkSimulator
from wechat_bridge.store import redis_keys
from wechat_bridge.wiring import Wired

AWAY = EngineUnavailable("engine gpt (https://gpt.example): HTTP 503")
DAY_SECONDS = 86_400


@pytest.fixture
def wired_other(wired: Wired, simulator: IlinkSimulator) -> World:
    """Another channel on the same servers."""
    return World.create(wired, simulator.control, simulator.base_url)


def ring_at_seconds(world: World, turn: Turn) -> float:
    """In how many seconds the sweep looks at a turn."""
    ring_at = world.turn(turn.id).ring_at
    assert ring_at is not None
    return (ring_at - world.bridge.clock.now()).total_seconds()


def test_a_waiting_turn_is_rung_when_the_pause_is_over_and_not_before(world: World) -> None:
    gated = Gated.create(world, AWAY)
    third = gated.shut()[2]
    (late,) = gated.turns("late")
    gated.generate(late)
    gated.sweep()
    assert gated.rung() == []
    gated.pass_pause()
    gated.sweep()
    assert gated.rung() == [third.id], "one tries"
    gated.generate(third)
    gated.rung()
    gated.pass_pause()
    gated.sweep()
    assert gated.rung() == [late.id], "and not always the same"


def test_an_overdue_turn_is_not_rung_into_a_closed_door_and_is_looked_at_as_seldom_as_can_be(world: World) -> None:
    gated = Gated.create(world, AWAY)
    gated.shut()
    (turn,) = gated.turns("ann")
    overdue(world, turn)
    gated.sweep()
    assert gated.rung() == []
    most = world.bridge.settings.sweep.ring_most_seconds
    assert most - 10 < ring_at_seconds(world, turn) <= most
    assert world.turn(turn.id).rings == 0
    assert gated.state.waiting == 2, "it is in the line, though its doorbell was lost"
    gated.say("yes")
    gated.pass_pause()
    gated.generate(gated.turns("probe")[0])
    gated.work()
    assert world.delivered("ann") == ["yes"]


def test_a_command_whose_doorbell_was_lost_is_rung_though_its_engine_is_down(world: World) -> None:
    gated = Gated.create(world, AWAY)
    gated.shut()
    command = gated.command("third")
    assert gated.rung() == [command.id], "this doorbell is lost"
    overdue(world, command)
    gated.sweep()
    assert gated.rung() == [command.id]


def test_turns_of_other_engines_are_rung_as_ever(world: World, wired_other: World) -> None:
    gated = Gated.create(world, AWAY)
    gated.shut()
    other = Gated.create(wired_other, "yes")
    gated.world = using(gated.world, engines={**gated.world.bridge.engines, other.engine.name: other.engine})
    (turn,) = other.turns("bob")
    overdue(world, turn)
    gated.sweep()
    assert [each.args for each in taken(wired_other, "reply")] == [[turn.id]]


def test_a_turn_that_waited_until_wechat_takes_no_answer_is_given_up_with_the_reason(world: World) -> None:
    gated = Gated.create(world, AWAY)
    gated.shut()
    old, young = gated.turns("old", "young")
    age(world, old, DAY_SECONDS + 60)
    overdue(world, old, young)
    gated.sweep()
    assert [gated.attempts(turn)[0] for turn in (old, young)] == [TurnState.DEAD, TurnState.QUEUED]
    assert [each.args for each in taken(world, "dead_letter")] == [[old.id]]
    record_dead_letter(gated.world.bridge, old.id)
    letter = world.bridge.dead_letters.get(old.id)
    assert letter is not None
    assert (letter.stage, letter.error_class) == ("reply", "EngineUnavailable")
    assert f"engine {gated.engine.name} could not take it for 24 h" in letter.error


def test_what_a_dead_worker_held_is_free_in_one_pass(world: World) -> None:
    gated = Gated.create(world, "yes", limit=1)
    held, waiting = gated.turns("ann", "bob")
    gates = world.bridge.gates
    assert gates.admit(gated.engine.name, 1, held.id, f"host:1:dead|{keys.new_token()}", 300)
    gated.generate(waiting)
    gated.world = process(gated.world, "me", dead=["host:1:other"])
    gated.sweep()
    assert gated.rung() == []
    gated.world = process(gated.world, "me", dead=["host:1:dead"])
    gated.sweep()
    assert gated.rung() == [waiting.id]


def test_after_a_flush_of_redis_the_sweep_finds_who_waited_in_the_ledger(world: World) -> None:
    gated = Gated.create(world, AWAY)
    gated.shut()
    waiting = gated.turns("ann", "bob")
    for turn in waiting:
        gated.generate(turn)
    world.wired.redis.flushdb()
    overdue(world, *waiting)
    gated.say("yes")
    gated.sweep()
    gated.work()
    assert [world.delivered(name) for name in ("ann", "bob")] == [["yes"]] * 2


def test_twenty_thousand_waiting_turns_cost_a_pass_a_bounded_number_of_rings(world: World) -> None:
    """All of them wait in the line; with the engine back, a pass rings the first few, who ring the others."""
    gated = Gated.create(world, AWAY)
    gated.shut()
    for start in range(0, 20_000, 1_000):
        turns = [f"wechat-reply:{world.share_id}:{number}" for number in range(start, start + 1_000)]
        world.bridge.gates.line_up(gated.engine.name, turns)
    assert gated.state.waiting == 20_000
    gated.sweep()
    assert gated.rung() == []
    world.wired.redis.delete(redis_keys.engine_breaker(gated.engine.name))
    gated.sweep()
    assert len(gated.rung()) == engine_watch.MOST_RUNG


# the operator


def test_an_engine_that_stays_away_is_an_alert_once_and_cleared_when_it_is_back(world: World) -> None:
    gated = Gated.create(world, AWAY)
    gated.shut()
    assert gated.sweep() == [], "a bad moment is no alarm"
    breaker = redis_keys.engine_breaker(gated.engine.name)
    since = int((world.bridge.clock.now() - timedelta(seconds=20)).timestamp() * 1000)
    world.wired.redis.hset(breaker, "since", since)
    assert gated.sweep() == ["alert_raised"]
    assert gated.sweep() == []
    gated.say("yes")
    gated.pass_pause()
    gated.generate(gated.turns("probe")[0])
    assert gated.sweep() == ["alert_cleared"]
    assert gated.sweep() == []
