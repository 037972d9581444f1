"""A process dies at any call of a delivery with a check: the answer reaches its person once, checked and labelled."""

from __future__ import annotations

import pytest

from tests.flow.outgoing_steps import (
    LABEL,
    PASS,
    checked_by,
    checker,
)
from tests.support.mortal import Death, Lives
from tests.support.variations import using
from tests.support.world import World
from wechat_bridge.simulators.engine import EngineSimulator
from wechat_bridge.simulators.ilink import IlinkSimulator
from wechat_bridge.wiring import Wired

__all__ = ["checker"]


@pytest.mark.slow
def test_wherever_the_process_dies_a_checked_answer_reaches_its_person_once(
    wired: Wired, simulator: IlinkSimulator, checker: EngineSimulator
) -> None:
    checker.script(times=None, **PASS)
    immortal = Death(0)
    lived(wired, simulator, checker, immortal)
    first = immortal.calls.index("turns.release 1")
    assert "outgoing.check 1" in immortal.calls[first:]
    for number, name in enumerate(immortal.calls[first:], first + 1):
        case = lived(wired, simulator, checker, Death(number))
        case.go_on()
        assert case.world.delivered() == [f"hello\n\n{LABEL}"], f"after {name}"
        case.world.bridge.channels.collection.delete_one({"_id": case.world.share_id})


def lived(wired: Wired, simulator: IlinkSimulator, checker: EngineSimulator, death: Death) -> Lives:
    """A channel with a check, at which a message was answered by a process with this fate."""
    world = checked_by(World.create(wired, simulator.control, simulator.base_url), checker, label=LABEL)
    simulator.control.set_options(world.bot_id, hold_seconds=0.02, cursor="redeliver", dedupe_client_id=True)
    simulator.control.say(world.bot_id, world.user(), "hello")
    lives = Lives(world, death)
    lives.first = using(lives.first, outgoing=death.within("outgoing", world.bridge.outgoing))
    lives.live_and_die()
    return lives
