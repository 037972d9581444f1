"""The safety net: whatever a dead process held or a lost doorbell left behind is taken up again, and nothing twice."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.flow.delivering import generated, queued, send
from tests.support.doorbells import taken
from tests.support.together import together
from tests.support.variations import door, engine, failing, process, using
from tests.support.world import World
from wechat_bridge.errors import LedgerUnavailable, SendRefused
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.model.outcome import Done
from wechat_bridge.model.turn import ChunkState, Turn, TurnState


def held(world: World, turn: Turn, state: TurnState, owner: str, attempts: int = 1, **fields: Any) -> None:
    """Let a turn be held by somebody in the middle of the work."""
    counted = "generate_attempts" if state is TurnState.GENERATING else "deliver_attempts"
    lease = world.bridge.clock.after(300)
    changes = {
        "state": state.value,
        "owner": owner,
        "fence": 7,
        "lease_until": lease,
        "ring_at": lease,
        counted: attempts,
    }
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": changes | fields})


def overdue(world: World, turn: Turn) -> None:
    """Let the time at which the sweep looks at a turn have come."""
    past = world.bridge.clock.now() - timedelta(seconds=1)
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"ring_at": past}})


def sweep(world: World) -> None:
    """One pass of a sweeper that has just started."""
    Sweeper().sweep(world.bridge)


def rung(world: World, queue: str) -> list[str]:
    """The subjects of the doorbells in a queue."""
    return [each.args[0] for each in taken(world, queue)]


# dead owners and run-out leases


@pytest.mark.parametrize(
    ("state", "back", "queue"),
    [(TurnState.GENERATING, TurnState.QUEUED, "reply"), (TurnState.DELIVERING, TurnState.GENERATED, "deliver")],
)
def test_what_a_dead_process_held_is_due_again_and_rung_at_once(
    world: World, state: TurnState, back: TurnState, queue: str
) -> None:
    turn = queued(world)
    held(world, turn, state, "dead")
    sweep(process(world, "me", dead=["dead"]))
    now = world.turn(turn.id)
    assert (now.state, now.owner, now.lease_until) == (back, None, None)
    assert rung(world, queue) == [turn.id]


def test_what_a_living_process_holds_is_left_alone(world: World) -> None:
    turn = queued(world)
    held(world, turn, TurnState.GENERATING, "alive")
    before = world.turn(turn.id)
    sweep(process(world, "me", dead=["somebody else"]))
    assert world.turn(turn.id) == before
    assert rung(world, "reply") == []


def test_a_lease_that_has_run_out_is_taken_over_even_from_a_living_process(world: World) -> None:
    turn = queued(world)
    held(world, turn, TurnState.GENERATING, "alive")
    overdue(world, turn)
    sweep(process(world, "me"))
    assert world.turn(turn.id).state is TurnState.QUEUED
    assert rung(world, "reply") == [turn.id]


def test_twenty_sweepers_at_once_take_a_turn_over_once(world: World) -> None:
    turn = queued(world)
    held(world, turn, TurnState.GENERATING, "dead")
    sweeping = process(world, "me", dead=["dead"])
    together(20, lambda _: sweep(sweeping))
    assert rung(world, "reply") == [turn.id]


def test_a_turn_taken_over_is_answered_once_and_its_first_worker_changes_nothing_any_more(world: World) -> None:
    asking, scripted = engine(world, "the answer")
    turn = queued(asking)
    first = world.bridge.turns.claim(
        turn.id,
        TurnState.QUEUED,
        TurnState.GENERATING,
        "frozen",
        world.bridge.clock.now(),
        world.bridge.clock.after(60),
    )
    assert first is not None
    sweep(process(asking, "me", dead=["frozen"]))
    assert asking.answer(turn).state is TurnState.SENT
    assert not world.bridge.turns.write(first, {"answer": "late"})
    assert not world.bridge.turns.finish(first, TurnState.DEAD, world.bridge.clock.now(), {})
    assert world.delivered() == ["the answer"]
    assert len(scripted.asked) == 1


def test_a_delivery_taken_over_sends_what_is_unknown_again_under_its_id_and_asks_no_engine(world: World) -> None:
    asking, scripted = engine(world, "the answer")
    turn = generated(asking)
    sending = turn.chunks[0].model_copy(update={"state": ChunkState.SENDING}).model_dump()
    held(world, turn, TurnState.DELIVERING, "dead", chunks=[sending])
    sweep(process(asking, "me", dead=["dead"]))
    assert send(asking, turn) == Done()
    assert [row["client_id"] for row in world.control.sends(world.bot_id)] == [turn.chunks[0].client_id]
    assert len(scripted.asked) == 1


@pytest.mark.parametrize(("state", "stage"), [(TurnState.GENERATING, "reply"), (TurnState.DELIVERING, "deliver")])
def test_a_turn_that_killed_its_worker_four_times_is_given_up(world: World, state: TurnState, stage: str) -> None:
    turn = queued(world)
    held(world, turn, state, "dead", attempts=4)
    sweep(process(world, "me", dead=["dead"]))
    dead = world.turn(turn.id)
    assert (dead.state, dead.error_class, dead.failed_stage) == (TurnState.DEAD, "WorkerLost", stage)
    assert rung(world, "dead_letter") == [turn.id]
    record_dead_letter(world.bridge, turn.id)
    letter = world.bridge.dead_letters.get(turn.id)
    assert letter is not None
    assert (letter.attempts, letter.error) == (4, "worker lost in attempt 4")
    assert world.bridge.inbox.get(turn.message_ids[0]).state == "failed"  # type: ignore[union-attr]


# lost doorbells


@pytest.mark.parametrize(("state", "queue"), [(TurnState.QUEUED, "reply"), (TurnState.GENERATED, "deliver")])
def test_a_turn_whose_doorbell_was_lost_is_rung_again_less_and_less_often(
    world: World, state: TurnState, queue: str
) -> None:
    turn = queued(world)
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"state": state.value}})
    sweep(world)
    assert rung(world, queue) == []  # rung a moment ago
    sweeper = Sweeper()
    for wait_seconds in (15, 30, 60, 120, 240, 300, 300):
        overdue(world, turn)
        earliest = world.bridge.clock.after(wait_seconds)
        sweeper.sweep(world.bridge)
        assert rung(world, queue) == [turn.id]
        ring_at = world.turn(turn.id).ring_at
        assert ring_at is not None
        assert earliest <= ring_at <= world.bridge.clock.after(wait_seconds)
    sweeper.sweep(world.bridge)
    assert rung(world, queue) == []


def test_a_conversation_whose_doorbell_was_lost_is_rung_again(world: World) -> None:
    world.receive(world.text("hello"))
    taken(world, "inbox")
    sweep(world)
    assert rung(world, "inbox") == []
    past = world.bridge.clock.now() - timedelta(seconds=1)
    world.bridge.conversations.collection.update_one({"_id": world.chat()}, {"$set": {"ring_at": past}})
    sweep(world)
    assert rung(world, "inbox") == [world.chat()]
    sweep(world)
    assert rung(world, "inbox") == []


def test_a_parked_turn_is_not_rung(world: World) -> None:
    refusing, _ = door(world, *[SendRefused(-2, "")] * 2)
    turn = generated(refusing)
    send(refusing, turn)
    taken(world, "deliver")
    sweep(process(world, "me", dead=[world.bridge.owner]))
    assert world.turn(turn.id).state is TurnState.PARKED
    assert rung(world, "deliver") == []


def test_nothing_is_rung_while_a_queue_is_full_and_nothing_is_forgotten(world: World) -> None:
    turn = queued(world)
    overdue(world, turn)
    sweep(using(world, doorbells=Crowded(world)))
    assert rung(world, "reply") == []
    sweep(world)
    assert rung(world, "reply") == [turn.id]


class Crowded:
    """Doorbells whose queues are full."""

    def __init__(self, world: World) -> None:
        self._real = world.bridge.doorbells

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def waiting(self, queue: str) -> int:
        """Too many."""
        return 1_000


# half-done ends


STEPS = [("inbox", "close"), ("turns", "close"), ("conversations", "unblock")]


@pytest.mark.parametrize(("part", "method"), STEPS)
def test_a_turn_whose_worker_died_while_closing_it_is_closed_by_the_sweep(world: World, part: str, method: str) -> None:
    turn = generated(world, "first")
    world.receive(world.text("second"))
    world.make_due()
    world.flush()
    dying = failing(world, part, method, LedgerUnavailable("away"))
    with pytest.raises(LedgerUnavailable):
        deliver.deliver_reply(dying.bridge, turn.id)
    assert world.turn(turn.id).state is TurnState.SENT
    sweep(world)
    closed = world.turn(turn.id)
    assert not closed.open
    assert world.bridge.inbox.get(turn.message_ids[0]).state == "done"  # type: ignore[union-attr]
    due = world.bridge.clock.now() - timedelta(seconds=1)
    world.bridge.conversations.collection.update_one({"_id": world.chat()}, {"$set": {"flush_at": due}})
    following = world.flush()
    assert following is not None
    world.answer(following)
    assert world.delivered() == ["first", "second"]


def test_a_skipped_turn_whose_worker_died_while_closing_it_is_closed_by_the_sweep(world: World) -> None:
    asking, _ = engine(world, "")
    turn = queued(asking)
    with pytest.raises(LedgerUnavailable):
        reply.generate_reply(failing(asking, "inbox", "close", LedgerUnavailable("away")).bridge, turn.id)
    sweep(world)
    assert not world.turn(turn.id).open
    assert world.bridge.inbox.get(turn.message_ids[0]).reason == "the engine answered nothing"  # type: ignore[union-attr]


def test_a_dead_turn_that_nobody_recorded_is_rung_for_until_somebody_does(world: World) -> None:
    turn = queued(world)
    dead = {"state": "dead", "error": "gone", "failed_stage": "deliver"}
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": dead})
    overdue(world, turn)
    sweep(world)
    assert rung(world, "dead_letter") == [turn.id]
    record_dead_letter(world.bridge, turn.id)
    sweep(world)
    assert rung(world, "dead_letter") == []


def test_one_pass_at_a_time_in_a_process(world: World) -> None:
    turn = queued(world)
    overdue(world, turn)
    sweeper = Sweeper()
    together(10, lambda _: sweeper.sweep(world.bridge))
    assert rung(world, "reply") == [turn.id]
