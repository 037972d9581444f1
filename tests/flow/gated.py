"""A channel whose engine has a gate, and turns in front of it. Time passes by changing what Redis knows."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

from structlog.testing import capture_logs

from tests.flow.delivering import queued
from tests.support.doorbells import taken
from tests.support.variations import ScriptedEngine, using
from tests.support.world import World
from wechat_bridge.flow import deliver, reply, turns
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.model.engine import WebhookEngineSettings
from wechat_bridge.model.outcome import Outcome
from wechat_bridge.model.turn import Lane, Turn, TurnState
from wechat_bridge.store import redis_keys
from wechat_bridge.store.engine_gates import GateState

PAUSE_SECONDS = 1_000.0
"""Longer than any test: a pause ends when a test says so."""


@dataclasses.dataclass
class Gated:
    """The world, and its engine, which no other test uses."""

    world: World
    engine: ScriptedEngine
    limit: int = 0
    sweeper: Sweeper = dataclasses.field(default_factory=Sweeper)

    @classmethod
    def create(cls, world: World, *answers: str | Exception, limit: int = 0) -> Gated:
        """Give the world's channel an engine that answers so."""
        scripted = ScriptedEngine(*answers)
        scripted.name = f"gpt-{world.share_id}"
        described = WebhookEngineSettings.model_validate(
            {"kind": "webhook", "url": "http://127.0.0.1:1/", "secret": "secret", "max_concurrency": limit}
        )
        settings = world.bridge.settings
        breaker = settings.breaker.model_copy(
            update={"failures": 3, "open_seconds": PAUSE_SECONDS, "open_most_seconds": PAUSE_SECONDS}
        )
        unpaced = settings.reply.model_copy(update={"pacing_seconds": 0.0})
        changed = settings.model_copy(
            update={"engines": {scripted.name: described}, "breaker": breaker, "reply": unpaced}
        )
        collection = world.bridge.channels.collection
        collection.update_one({"_id": world.share_id}, {"$set": {"engine": scripted.name}})
        engines = {"echo": ScriptedEngine("echo"), scripted.name: scripted}
        return cls(using(world, settings=changed, engines=engines), scripted, limit)

    def say(self, *answers: str | Exception) -> None:
        """Let the engine answer so from now on."""
        name, self.engine = self.engine.name, ScriptedEngine(*answers)
        self.engine.name = name
        self.world = using(self.world, engines={**self.world.bridge.engines, name: self.engine})

    @property
    def state(self) -> GateState:
        """How the gate stands."""
        return self.world.bridge.gates.look({self.engine.name: self.limit})[0]

    def command(self, name: str) -> Turn:
        """A command of a person to the bridge itself, which needs no engine."""
        self.world.receive(self.world.text("/help", name=name))
        turns.flush_conversation(self.world.bridge, self.world.chat(name))
        command = self.world.bridge.turns.open_of(self.world.chat(name), Lane.COMMAND)
        assert command is not None
        return command

    def turns(self, *names: str) -> list[Turn]:
        """A turn that waits for its answer, of each of these people."""
        return [queued(self.world, f"hello of {name}", name) for name in names]

    def generate(self, turn: Turn) -> Outcome:
        """Answer the doorbell of a turn, as if its time had come."""
        past = self.world.bridge.clock.now() - timedelta(seconds=1)
        waiting = {"_id": turn.id, "state": TurnState.QUEUED.value}
        self.world.bridge.turns.collection.update_one(waiting, {"$set": {"next_attempt_at": past}})
        return reply.generate_reply(self.world.bridge, turn.id)

    def shut(self) -> list[Turn]:
        """Let the engine fail on three people, so that the gate is shut."""
        made = self.turns("first", "second", "third")
        for turn in made:
            self.generate(turn)
        assert self.state.is_open
        taken(self.world, "reply")
        return made

    def pass_pause(self) -> None:
        """Let the pause be over."""
        breaker = redis_keys.engine_breaker(self.engine.name)
        assert self.world.wired.redis.hexists(breaker, "open_until"), "it is not shut"
        self.world.wired.redis.hset(breaker, "open_until", "1")

    def rung(self) -> list[str]:
        """The turns whose doorbells wait in the queue of replies; they are taken out."""
        return [each.args[0] for each in taken(self.world, "reply")]

    def work(self, most: int = 100) -> int:
        """Answer doorbells for replies as a worker does, until there are none; return how many there were."""
        for answered in range(most):
            doorbells = self.rung()
            if not doorbells:
                return answered
            for turn_id in doorbells:
                reply.generate_reply(self.world.bridge, turn_id)
                deliver.deliver_reply(self.world.bridge, turn_id)
        raise AssertionError(f"doorbells do not end; the last were {doorbells}")

    def attempts(self, turn: Turn) -> tuple[TurnState, int]:
        """The state of a turn, and how many of its attempts count."""
        stored = self.world.turn(turn.id)
        return stored.state, stored.generate_attempts

    def sweep(self) -> list[str]:
        """One pass of the sweeper; return the events it logged about engines and alerts. The first looks at all."""
        with capture_logs() as lines:
            self.sweeper.sweep(self.world.bridge)
        return [line["event"] for line in lines if line["event"].startswith(("engine_", "alert_"))]


def age(world: World, turn: Turn, seconds: float) -> None:
    """Let a turn have been asked so long ago."""
    then = world.bridge.clock.now() - timedelta(seconds=seconds)
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"times.queued": then}})


def overdue(world: World, *turns: Turn) -> None:
    """Let the time at which the sweep looks at these turns have come."""
    past = world.bridge.clock.now() - timedelta(seconds=1)
    world.bridge.turns.collection.update_many(
        {"_id": {"$in": [turn.id for turn in turns]}}, {"$set": {"ring_at": past}}
    )
