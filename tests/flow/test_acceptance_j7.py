"""Acceptance J7: whatever ends a turn, a timeout or somebody who aborts it, the messages behind it still run."""

from __future__ import annotations

import pytest

from tests.flow.delivering import answer_all, queued
from tests.flow.people.admitting import wrote
from tests.support.variations import process, setting, using
from tests.support.world import World
from wechat_bridge.engines.base import Answer, Question
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.engines.webhook import WebhookEngine
from wechat_bridge.flow import reply
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.stop import stop_turn
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.model.channel import QueueMode
from wechat_bridge.model.engine import WebhookEngineSettings
from wechat_bridge.model.turn import TurnState
from wechat_bridge.simulators.engine import EngineSimulator

TURN_SECONDS = 0.3


def under(world: World, mode: QueueMode, **reply_settings: object) -> World:
    """The channel under a queue mode, which says nothing about failures."""
    world.bridge.channels.configure(world.share_id, {"queue_mode": mode.value})
    return setting(world, "reply", pacing_seconds=0.0, apology="", **reply_settings)


@pytest.mark.parametrize("mode", list(QueueMode), ids=str)
def test_after_a_turn_that_timed_out_what_waits_is_answered(world: World, mode: QueueMode) -> None:
    with EngineSimulator() as server:
        settings = WebhookEngineSettings(kind="webhook", url=f"{server.base_url}/webhook", secret="secret")
        http = EngineHttp(2)
        own = under(world, mode, engine_deadline_seconds=TURN_SECONDS, max_retries=0)
        asking = using(own, engines={"echo": WebhookEngine("echo", settings, http)})
        server.script(hang=True)
        turn = queued(asking, "m1")
        asking.receive(world.text("m2"))
        reply.generate_reply(asking.bridge, turn.id)
        assert "within 0.3 s" in str(world.turn(turn.id).error)
        record_dead_letter(asking.bridge, turn.id)
        assert answer_all(asking) == ["m2"]
        http.close()


class Aborted:
    """An engine whose first turn is aborted by somebody else while it works."""

    name = "echo"

    def __init__(self, world: World) -> None:
        self._world = world
        self.asked: list[str] = []

    def answer(self, question: Question) -> Answer:
        """Answer with the question, aborted or not."""
        self.asked.append(question.text)
        if len(self.asked) == 1:
            wrote(self._world, "m2")
            assert stop_turn(self._world.bridge, question.chat_id, self._world.bridge.clock.now(), "aborted")
        return Answer(question.text)


def test_after_a_turn_that_was_aborted_what_waits_is_answered(world: World) -> None:
    own = under(world, QueueMode.COLLECT)
    engine = Aborted(own)
    asking = using(own, engines={"echo": engine})
    turn = queued(asking, "m1")
    reply.generate_reply(asking.bridge, turn.id)
    assert world.turn(turn.id).error == "aborted"
    assert answer_all(asking) == ["m2"]
    assert engine.asked == ["m1", "m2"]


@pytest.mark.parametrize("mode", [QueueMode.COLLECT, QueueMode.FOLLOWUP], ids=str)
def test_after_a_turn_whose_worker_died_for_the_last_time_what_waits_is_answered(world: World, mode: QueueMode) -> None:
    own = under(world, mode, max_retries=0)
    turn = queued(own, "m1")
    held = own.bridge.turns.claim(
        turn.id, TurnState.QUEUED, TurnState.GENERATING, "dead", own.bridge.clock.now(), own.bridge.clock.after(600)
    )
    assert held is not None
    wrote(own, "m2")
    Sweeper().sweep(process(own, "another", dead=["dead"]).bridge)
    record_dead_letter(own.bridge, turn.id)
    assert answer_all(own) == ["m2"]
