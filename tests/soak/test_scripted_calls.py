"""Scripted failures of calls to WeCom: one at a time for an app, known by the call that met them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from tests.soak.record import Record, Said
from tests.soak.scripted_calls import CallLog, ScriptedCalls, is_met
from tests.support.customer_world import CustomerWorld
from tests.support.wecom_world import WecomWorld
from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.model.turn import TurnState
from wechat_bridge.simulators.wecom import WecomControl, WecomSimulator
from wechat_bridge.wiring import Wired


@dataclass
class Set:
    """As much of a stage as failures need."""

    wecom: WecomSimulator
    worlds: list[WecomWorld]
    pull_flag: Path

    @property
    def system(self) -> WecomWorld:
        return self.worlds[0]

    def wecom_control(self) -> WecomControl:
        return self.wecom.control

    def world_of(self, share_id: str) -> WecomWorld:
        return next(world for world in self.worlds if world.share_id == share_id)


@pytest.fixture(scope="module")
def wecom() -> Iterator[WecomSimulator]:
    """A simulated WeCom."""
    with WecomSimulator() as running:
        yield running


def said(world: WecomWorld) -> Said:
    kind = ChannelKind.WECOM_KF if isinstance(world, CustomerWorld) else ChannelKind.WECOM
    return Said("hello", "1", world.share_id, world.bot_id, world.user(), kind)


def scripts(tmp_path: Path, wecom: WecomSimulator, *worlds: WecomWorld) -> ScriptedCalls:
    record = Record()
    record.say(*(said(world) for world in worlds))
    stage = cast("Any", Set(wecom, list(worlds), tmp_path / "pull.kill"))
    return ScriptedCalls(stage, record, random.Random(1))


@pytest.mark.parametrize(("kind", "attempts"), [("WeCom busy", 2), ("WeCom cut before", 2), ("WeCom cut after", 2)])
def test_an_app_has_its_next_failure_after_the_turn_that_met_the_last_one(
    wired: Wired, wecom: WecomSimulator, tmp_path: Path, kind: str, attempts: int
) -> None:
    world = WecomWorld.of_app(wired, wecom.control)
    scripted = scripts(tmp_path, wecom, world)
    turn = world.answered("hello")

    assert scripted.add(kind)
    [failure] = scripted.record.calls
    assert not is_met(failure, scripted.log)
    assert not scripted.add(kind)  # no call has met it

    world.send(turn)
    assert world.turn(turn.id).open
    assert not scripted.add(kind)  # its turn is to be sent yet
    assert (failure.text, failure.user_id) == ("hello", world.user())

    world.send(turn)
    assert world.turn(turn.id).state is TurnState.SENT
    assert world.delivered() == ["hello"]
    assert scripted.add(kind)


def test_a_call_of_another_app_meets_nothing(wired: Wired, wecom: WecomSimulator, tmp_path: Path) -> None:
    world, other = (WecomWorld.of_app(wired, wecom.control) for _ in range(2))
    scripted = scripts(tmp_path, wecom, world)
    assert scripted.add("WeCom busy")

    other.send(other.answered("hello"))
    assert not is_met(scripted.record.calls[0], scripted.log)
    world.send(world.answered("hello"))
    assert is_met(scripted.record.calls[0], scripted.log)


def test_a_dead_token_is_met_by_the_call_that_was_told_so(wired: Wired, wecom: WecomSimulator, tmp_path: Path) -> None:
    world = WecomWorld.of_app(wired, wecom.control)
    scripted = scripts(tmp_path, wecom, world)
    assert not scripted.add("token expired")  # it has none yet

    world.send(world.answered("one"))
    assert scripted.add("token expired")
    assert not is_met(scripted.record.calls[0], scripted.log)
    world.send(world.answered("two"))
    assert is_met(scripted.record.calls[0], scripted.log)


def test_so_is_one_that_was_forgotten_before_anybody_was_told(
    wired: Wired, wecom: WecomSimulator, tmp_path: Path
) -> None:
    world = WecomWorld.of_app(wired, wecom.control)
    scripted = scripts(tmp_path, wecom, world)
    world.send(world.answered("one"))
    assert scripted.add("token expired")

    wired.redis.flushall()
    world.send(world.answered("two"))
    assert (world.delivered(), is_met(scripted.record.calls[0], scripted.log)) == (["one", "two"], True)


@pytest.mark.parametrize("kind", ["pull refused", "pull cut"])
def test_a_pull_meets_its_failure(wired: Wired, wecom: WecomSimulator, tmp_path: Path, kind: str) -> None:
    app, account = WecomWorld.of_app(wired, wecom.control), CustomerWorld.of_account(wired, wecom.control)
    assert not scripts(tmp_path, wecom, app).add(kind)
    scripted = scripts(tmp_path, wecom, app, account)

    assert scripted.add(kind)
    [failure] = scripted.record.calls
    assert not is_met(failure, scripted.log)
    account.say("hello")
    account.pull()
    assert (account.said(), is_met(failure, CallLog(wecom.control))) == ([], True)


def test_a_pull_that_is_to_die_has_done_so_when_the_file_has_gone(
    wired: Wired, wecom: WecomSimulator, tmp_path: Path
) -> None:
    account = CustomerWorld.of_account(wired, wecom.control)
    scripted = scripts(tmp_path, wecom, account)

    assert scripted.add("pull killed")
    [failure] = scripted.record.calls
    assert not is_met(failure, scripted.log)
    (tmp_path / "pull.kill").unlink()
    assert is_met(failure, scripted.log)
