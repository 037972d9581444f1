"""What an outcome means to Celery, whatever the broker says to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from celery import Celery
from celery.exceptions import Retry

from tests.support.doorbells import taken
from tests.support.variations import engine
from tests.support.world import World
from wechat_bridge.errors import EngineUnavailable, LedgerUnavailable
from wechat_bridge.flow import reply
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.local.ports import free_port
from wechat_bridge.model.outcome import Outcome, RetryIn
from wechat_bridge.model.turn import TurnState
from wechat_bridge.tasks.base import RETRY_SLACK_SECONDS, TurnTask


def in_a_second(turn_id: str) -> Outcome:
    """The outcome that the turn is to be tried again."""
    return RetryIn(1.0)


def task_of(broker_url: str, run: Callable[[str], Outcome] = in_a_second) -> Iterator[TurnTask]:
    """A task just being run by a worker of this broker."""
    with Celery("retries", broker=broker_url, set_as_current=False) as app:
        app.config_from_object("celeryconfig")
        app.conf.update(broker_url=broker_url, task_publish_retry=False)
        again = app.task(base=TurnTask, name="retries.again", shared=False)(run)
        again.push_request(id="t", args=("t",), kwargs={}, called_directly=False, retries=0, is_eager=False)
        yield again
        again.pop_request()


@pytest.fixture
def task(urls: tuple[str, str]) -> Iterator[TurnTask]:
    yield from task_of(urls[0])


@pytest.fixture
def cut_off_task() -> Iterator[TurnTask]:
    yield from task_of(f"redis://127.0.0.1:{free_port()}/0")


def test_a_turn_to_be_tried_again_is_a_countdown_doorbell(task: TurnTask) -> None:
    with pytest.raises(Retry):
        task("t")


@pytest.mark.parametrize(("interruptions", "longest"), [(0, 2.0), (1, 4.0), (2, 8.0), (3, 15.0), (1000, 15.0)])
def test_an_interrupted_turn_is_rung_for_again_after_a_growing_while(
    urls: tuple[str, str], interruptions: int, longest: float
) -> None:
    def interrupted(turn_id: str) -> Outcome:
        raise LedgerUnavailable

    for task in task_of(urls[0], interrupted):
        waits = []
        for _ in range(20):
            task.request.retries = interruptions
            with pytest.raises(Retry) as again:
                task("t")
            waits.append(float(again.value.when))
        assert all(longest / 2 <= wait - RETRY_SLACK_SECONDS <= longest for wait in waits)
        assert len({round(wait, 6) for wait in waits}) > 1, "not in step"


@pytest.mark.slow
def test_a_retry_that_the_broker_does_not_take_is_no_failure_of_the_task(cut_off_task: TurnTask) -> None:
    result: Any = TurnTask.__call__
    assert result(cut_off_task, "t") is None


def test_the_sweep_rings_for_a_retry_that_the_broker_did_not_take_and_nothing_is_given_up(world: World) -> None:
    sleepy, _ = engine(world, EngineUnavailable("timeout"), "awake")
    sleepy.receive(world.text("hello"))
    sleepy.make_due()
    turn = sleepy.flush()
    assert turn is not None
    assert isinstance(reply.generate_reply(sleepy.bridge, turn.id), RetryIn)
    taken(world, "reply")
    past = world.bridge.clock.now() - timedelta(seconds=1)
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"ring_at": past, "next_attempt_at": past}})
    Sweeper().sweep(world.bridge)
    assert [each.args for each in taken(world, "reply")] == [[turn.id]]
    assert sleepy.answer(turn).state is TurnState.SENT
    assert world.delivered() == ["awake"]
    assert world.bridge.dead_letters.get(turn.id) is None
