"""Steps that tests of the outgoing check share."""

from __future__ import annotations

from typing import Any

import pytest

from tests.flow.delivering import queued
from tests.support.variations import ScriptedEngine, engine, setting
from tests.support.world import World
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.channel.configure import configure
from wechat_bridge.model.outgoing import CheckResult
from wechat_bridge.model.turn import Turn
from wechat_bridge.simulators.engine import EngineSimulator

LABEL = "（AI 生成）"
SECRET = "the-secret-of-the-check"
PASS: dict[str, Any] = {"body": '{"action": "pass"}'}
REFUSE: dict[str, Any] = {"body": '{"action": "refuse"}'}
REPLACE: dict[str, Any] = {"body": '{"action": "replace", "text": "something else"}'}


@pytest.fixture
def checker(simulated_engine: EngineSimulator) -> EngineSimulator:
    """A URL that checks answers, with nothing scripted: it says something that is no verdict."""
    return simulated_engine


def under(world: World, **rules: Any) -> World:
    """The channel under outgoing rules, its sends not paced."""
    configure(world.bridge, world.share_id, {}, rules, "operator")
    return setting(world, "reply", pacing_seconds=0.0)


def checked_by(world: World, checker: EngineSimulator, **rules: Any) -> World:
    """The channel whose answers a URL must let pass."""
    return under(world, check_url=f"{checker.base_url}/webhook", check_secret=SECRET, **rules)


def answered(world: World, *answers: str | Exception, text: str = "hello") -> tuple[World, ScriptedEngine, Turn]:
    """A world whose engine answers so, the engine, and a turn that was answered and delivered, if it could be."""
    world, scripted = engine(world, *answers)
    turn = queued(world, text)
    reply.generate_reply(world.bridge, turn.id)
    deliver.deliver_reply(world.bridge, turn.id)
    return world, scripted, world.turn(turn.id)


def record(turn: Turn) -> tuple[CheckResult, str] | None:
    """What the check said of a turn, and which part of it."""
    return (turn.check.result, turn.check.by) if turn.check else None
