"""What Celery's own tracer makes of the outcomes of a turn: retries, failures, and what lands in Redis."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from celery.app.trace import build_tracer
from celery.states import FAILURE, RETRY, SUCCESS

from tests.flow.delivering import queued
from tests.support.doorbells import Doorbell, taken
from tests.support.variations import door, engine, failing, process
from tests.support.world import World
from wechat_bridge import wiring
from wechat_bridge.errors import (
    BrokerUnavailable,
    EngineRefused,
    EngineUnavailable,
    LedgerUnavailable,
    PlatformUnavailable,
    SendRefused,
)
from wechat_bridge.model.turn import TurnState
from wechat_bridge.tasks import replying

Run = Callable[[World, str, str], str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a task as a worker does, in the process of a world; return the state that Celery reports."""

    def trace(world: World, name: str, subject: str) -> str:
        monkeypatch.setattr(wiring._process, "wired", world.wired)
        app = world.wired.celery
        task = app.tasks[f"wechat_bridge.{name}"]
        outcome = build_tracer(task.name, task, app=app)(subject, [subject], {}, {"id": subject, "retries": 0})
        return str(outcome.info.state) if outcome.info else SUCCESS

    assert replying.generate_reply.name == "wechat_bridge.generate_reply"
    return trace


def seconds_until(world: World, doorbell: Doorbell) -> float:
    """In how many seconds a doorbell is due."""
    assert doorbell.eta is not None
    return (datetime.fromisoformat(doorbell.eta) - world.bridge.clock.now()).total_seconds()


def test_a_message_walks_through_the_tasks_to_its_answer(world: World, run: Run) -> None:
    world.receive(world.text("hello"))
    world.make_due()
    assert run(world, "flush_conversation", world.chat()) == SUCCESS
    turn_id = taken(world, "reply")[0].args[0]
    assert run(world, "generate_reply", turn_id) == SUCCESS
    assert taken(world, "deliver")[0].args == [turn_id]
    assert run(world, "deliver_reply", turn_id) == SUCCESS
    assert world.delivered() == ["hello"]


def test_a_retry_is_the_same_doorbell_again_just_after_the_turn_is_due(world: World, run: Run) -> None:
    failing_engine, _ = engine(world, EngineUnavailable("x"))
    turn = queued(failing_engine)
    assert run(failing_engine, "generate_reply", turn.id) == RETRY
    again = taken(world, "reply")
    assert [(each.task, each.task_id, each.args, each.retries) for each in again] == [
        ("generate_reply", turn.id, [turn.id], 1)
    ]
    due = world.turn(turn.id).next_attempt_at
    assert due is not None
    until_due = (due - world.bridge.clock.now()).total_seconds()
    assert until_due - 0.1 <= seconds_until(world, again[0]) <= until_due + 1.0


def test_a_wait_beyond_a_minute_stands_in_the_ledger_only(world: World, run: Run) -> None:
    """A countdown waits in the memory of one worker."""
    failing_engine, _ = engine(world, EngineUnavailable("x", retry_after_seconds=61.0))
    turn = queued(failing_engine)
    assert run(failing_engine, "generate_reply", turn.id) == SUCCESS
    assert taken(world, "reply") == []
    stored = world.turn(turn.id)
    assert stored.ring_at is not None
    assert stored.next_attempt_at is not None
    assert stored.ring_at - stored.next_attempt_at >= timedelta(seconds=14)


def test_a_turn_given_up_fails_its_task_and_goes_to_the_dead_letters(world: World, run: Run) -> None:
    refusing, _ = engine(world, EngineRefused("no"))
    turn = queued(refusing)
    assert run(refusing, "generate_reply", turn.id) == FAILURE
    assert world.turn(turn.id).state is TurnState.DEAD
    rung = taken(world, "dead_letter")
    assert [(each.task, each.args) for each in rung] == [("record_dead_letter", [turn.id])]
    assert run(world, "record_dead_letter", turn.id) == SUCCESS
    assert world.bridge.dead_letters.get(turn.id) is not None


def test_a_turn_given_up_while_the_broker_is_away_is_left_to_the_sweep(world: World, run: Run) -> None:
    refusing, _ = engine(world, EngineRefused("no"))
    turn = queued(refusing)
    quiet = failing(refusing, "doorbells", "ring_dead_letter", BrokerUnavailable("away"))
    assert run(quiet, "generate_reply", turn.id) == FAILURE
    stored = world.turn(turn.id)
    assert (stored.state, stored.open) == (TurnState.DEAD, True)
    assert stored.ring_at is not None


def test_a_parked_reply_is_no_failure_and_no_retry(world: World, run: Run) -> None:
    refusing, _ = door(world, SendRefused(-2, ""))
    turn = queued(refusing)
    run(refusing, "generate_reply", turn.id)
    taken(world, "deliver")
    assert run(refusing, "deliver_reply", turn.id) == SUCCESS
    assert taken(world, "deliver") == []
    assert taken(world, "dead_letter") == []


def test_a_delivery_is_tried_again_as_a_delivery(world: World, run: Run) -> None:
    broken, _ = door(world, PlatformUnavailable("cut"))
    turn = queued(broken)
    run(broken, "generate_reply", turn.id)
    taken(world, "deliver")
    assert run(broken, "deliver_reply", turn.id) == RETRY
    assert [(each.task, each.args) for each in taken(world, "deliver")] == [("deliver_reply", [turn.id])]


OUTCOMES = [("generate_reply", RETRY), ("deliver_reply", RETRY), ("flush_conversation", SUCCESS),
            ("record_dead_letter", SUCCESS)]  # fmt: skip


@pytest.mark.parametrize(("name", "state"), OUTCOMES)
def test_a_ledger_that_is_away_fails_no_task(world: World, run: Run, name: str, state: str) -> None:
    away = failing(world, "turns", "get", LedgerUnavailable("away"))
    away = failing(away, "turns", "claim", LedgerUnavailable("away"))
    away = failing(away, "conversations", "get", LedgerUnavailable("away"))
    assert run(away, name, f"wechat-reply:{world.share_id}:1") == state
    taken(world, "reply")
    taken(world, "deliver")


def test_a_process_that_is_not_seen_alive_changes_nothing_and_rings_again_soon(world: World, run: Run) -> None:
    turn = queued(world)
    assert run(process(world, "frozen", stale=True), "generate_reply", turn.id) == RETRY
    assert world.turn(turn.id) == turn
    (again,) = taken(world, "reply")
    assert 1.0 < seconds_until(world, again) < 3.0


def test_an_error_nobody_expected_is_counted_against_the_turn_and_tried_again(world: World, run: Run) -> None:
    crashing, _ = engine(world, ZeroDivisionError("x"))
    turn = queued(crashing)
    assert run(crashing, "generate_reply", turn.id) == RETRY
    stored = world.turn(turn.id)
    assert (stored.state, stored.generate_attempts) == (TurnState.QUEUED, 1)
    assert "ZeroDivisionError" in (stored.error or "")


def test_a_task_about_a_turn_that_does_not_exist_does_nothing(world: World, run: Run) -> None:
    for name in ("generate_reply", "deliver_reply", "record_dead_letter"):
        assert run(world, name, f"wechat-reply:{world.share_id}:0") == SUCCESS
    for queue in ("reply", "deliver", "dead_letter"):
        assert taken(world, queue) == []
