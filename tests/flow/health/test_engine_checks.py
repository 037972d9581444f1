"""What health, metrics and the list of engines say of one that is down or full."""

from __future__ import annotations

import pytest

from tests.flow.gated import Gated
from tests.support import healthy
from tests.support.world import World
from wechat_bridge.cli.engine_view import described
from wechat_bridge.errors import EngineUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.health.readings import read
from wechat_bridge.flow.health.report import Check, report
from wechat_bridge.model import keys
from wechat_bridge.web.metrics import ReadingsCollector

REASON = "engine gpt (https://gpt.example): HTTP 503"


@pytest.fixture
def gated(world: World) -> Gated:
    """A bridge in which all is well, whose only channel has an engine that answers one at a time."""
    healthy.empty(world.wired)
    healthy.announce_all(world.bridge)
    healthy.add_channel(world.bridge, world.share_id)
    return Gated.create(world, EngineUnavailable(REASON), limit=1)


def red(bridge: Bridge) -> dict[str, Check]:
    return {check.name: check for check in report(bridge).checks if not check.ok}


def wait_long(gated: Gated, **fields: object) -> None:
    """A turn of the channel that has been due for an hour."""
    turn_id = keys.turn_id(gated.world.share_id, f"old-{len(fields)}")
    healthy.open_turn(gated.world.bridge, 3_600, id=turn_id, share_id=gated.world.share_id, **fields)


def ask(gated: Gated, turn_id: str) -> None:
    """Somebody wants to ask, and keeps the place if there is one."""
    gated.world.bridge.gates.admit(gated.engine.name, 1, turn_id, f"me|{turn_id}", 60)


def gauges(gated: Gated) -> dict[str, float]:
    """The gauges of the engine."""
    found = ReadingsCollector(read(gated.world.bridge), gated.world.bridge.settings).collect()
    samples = [sample for metric in found for sample in metric.samples]
    return {sample.name: sample.value for sample in samples if sample.labels == {"engine": gated.engine.name}}


def test_an_engine_that_answers_needs_no_line_in_the_report(gated: Gated) -> None:
    assert red(gated.world.bridge) == {}
    assert [check.name for check in report(gated.world.bridge).checks if check.name.startswith("engine")] == []
    assert gauges(gated) == {"wechat_bridge_engine_open": 0, "wechat_bridge_engine_waiting": 0}


def test_an_engine_that_is_down_is_a_warning_that_says_since_when_and_how_many_wait(gated: Gated) -> None:
    gated.shut()
    wait_long(gated)
    found = red(gated.world.bridge)
    assert set(found) == {f"engine_{gated.engine.name}"}, "the hour that a turn has waited is the engine's"
    check = found[f"engine_{gated.engine.name}"]
    assert report(gated.world.bridge).ok
    assert "does not answer since 2" in check.detail
    assert "1 turns wait" in check.detail
    assert REASON in check.detail
    assert gauges(gated) == {"wechat_bridge_engine_open": 1, "wechat_bridge_engine_waiting": 1}


def test_turns_of_other_engines_and_answers_that_are_not_sent_are_late_all_the_same(gated: Gated) -> None:
    gated.shut()
    wait_long(gated, state="generated")
    assert "turns" in red(gated.world.bridge)


def test_an_engine_at_its_limit_is_told_when_somebody_waits(gated: Gated) -> None:
    ask(gated, "a")
    assert red(gated.world.bridge) == {}
    ask(gated, "b")
    check = red(gated.world.bridge)[f"engine_{gated.engine.name}"]
    assert "answers 1 at once, as many as it may (max_concurrency), 1 turns wait" in check.detail
    gated.world.bridge.gates.forget(gated.engine.name, "b")
    assert red(gated.world.bridge) == {}


def test_the_list_shows_every_engine_with_kind_limit_and_state(gated: Gated) -> None:
    name = gated.engine.name
    ask(gated, "a")
    echo, gpt = described(gated.world.bridge)
    assert echo.as_row() == ("echo", "echo", "-", "-", "-", "answers")
    assert gpt.as_row() == (name, "webhook", "1", "1", "0", "full")
    gated.world.wired.redis.flushdb()
    gated.shut()
    row, fields = described(gated.world.bridge)[1].as_row(), described(gated.world.bridge)[1].as_fields()
    assert row[-1].startswith("does not answer since 2")
    assert row[-1].endswith(f"UTC: {REASON}")
    assert (fields["is_open"], fields["waiting"], fields["last_error"]) == (True, 1, REASON)
    assert "secret" not in str(fields)
