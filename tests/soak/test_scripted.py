"""Scripted failures of sends: one at a time for a channel, and never two on one turn."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.flow.delivering import generated, send
from tests.soak.record import Record, Said
from tests.soak.scripted import ScriptedSends, is_met
from tests.support.world import World
from wechat_bridge.model.outcome import Done
from wechat_bridge.model.turn import Turn

ENTRIES: dict[str, dict[str, Any]] = {
    "send HTTP 500": {"status": 500, "body": "busy"},
    "send cut before": {"cut": True},
    "send cut after": {"cut": True, "process": True},
}


def scripts(world: World) -> ScriptedSends:
    record = Record()
    record.say(Said("hello", "1", world.share_id, world.bot_id, world.user()))
    return ScriptedSends(world.control, world.bridge.turns, record, random.Random(1))


def is_open(world: World, turn: Turn) -> bool:
    return world.turn(turn.id).open


@pytest.mark.parametrize("kind", ENTRIES)
def test_a_channel_has_its_next_failure_after_the_turn_that_met_the_last_one(world: World, kind: str) -> None:
    scripted = scripts(world)
    turn = generated(world)

    assert scripted.add(kind, ENTRIES[kind])
    [failure] = scripted.record.scripted
    assert not is_met(failure, world.control)
    assert not scripted.add(kind, ENTRIES[kind])  # no send has met it

    send(world, turn)
    assert is_open(world, turn)
    assert not scripted.add(kind, ENTRIES[kind])  # its turn is to be sent yet
    assert (failure.client_id, failure.user_id) == (world.turn(turn.id).chunks[0].client_id, world.user())

    assert send(world, turn) == Done()
    assert not is_open(world, turn)
    assert scripted.add(kind, ENTRIES[kind])


def test_a_failure_is_met_by_the_first_send_after_it_and_not_by_those_before(world: World) -> None:
    scripted = scripts(world)
    send(world, generated(world, "before"))

    assert scripted.add("send cut after", ENTRIES["send cut after"])
    [failure] = scripted.record.scripted
    assert not is_met(failure, world.control)

    turn = generated(world, "after")
    send(world, turn)
    assert is_met(failure, world.control)
    assert failure.client_id == world.turn(turn.id).chunks[0].client_id
