"""A process is killed after every call from the gate of an engine to its answer: nobody's place or turn is lost."""

from __future__ import annotations

import pytest

from tests.flow.gated import Gated
from tests.support.mortal import Death, Lives
from tests.support.variations import setting, using
from tests.support.world import World
from wechat_bridge.errors import EngineUnavailable
from wechat_bridge.simulators.ilink import IlinkSimulator
from wechat_bridge.wiring import Wired

pytestmark = pytest.mark.slow

A_MOMENT = 0.001


class GatedLives(Lives):
    """Lives whose engine takes one question at a time, fails at first, and is tried again after a moment."""

    def __init__(self, wired: Wired, simulator: IlinkSimulator, death: Death) -> None:
        world = World.create(wired, simulator.control, simulator.base_url)
        self.gated = Gated.create(world, EngineUnavailable("HTTP 503"), "yes", limit=1)
        quick = setting(
            self.gated.world, "breaker", failures=1, open_seconds=A_MOMENT * 2, open_most_seconds=A_MOMENT * 2
        )
        simulator.control.set_options(world.bot_id, hold_seconds=0.02, cursor="redeliver", dedupe_client_id=True)
        simulator.control.say(world.bot_id, world.user(), "hello")
        super().__init__(quick, death)

    def _process(self, owner: str, death: Death, dead: list[str]) -> World:
        mortal = super()._process(owner, death, dead)
        return using(mortal, gates=death.within("gates", self.world.bridge.gates))


def test_a_message_survives_the_death_of_its_process_at_the_gate(wired: Wired, simulator: IlinkSimulator) -> None:
    immortal = Death(0)
    whole = GatedLives(wired, simulator, immortal)
    whole.live_and_die()
    whole.go_on()
    assert whole.world.delivered() == ["yes"]
    calls = immortal.calls
    for step in ("gates.admit 1", "engine.answer 1", "gates.leave 1", "engine.answer 2", "gates.leave 2"):
        assert step in calls
    first, last = calls.index("gates.admit 1"), calls.index("gates.leave 2")
    for number, name in enumerate(calls[first : last + 1], first + 1):
        point = f"after {name} (call {number} of {len(calls)})"
        case = GatedLives(wired, simulator, Death(number))
        case.live_and_die()
        case.go_on()
        assert case.world.delivered() == ["yes"], point
        state = case.gated.state
        assert (state.is_open, state.in_use, state.waiting) == (False, 0, 0), point
        case.world.bridge.channels.collection.delete_one({"_id": case.world.share_id})
