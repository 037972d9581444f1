"""What a change does to messages that wait and to those that come (acceptance G5)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.system import wait_until
from tests.support.world import World
from wechat_bridge.simulators.engine import EngineSimulator
from wechat_bridge.wiring import Wired

NOT_YET = 30


@pytest.fixture(autouse=True)
def _left_as_it_was(wired: Wired) -> Iterator[None]:
    """The environment alone, afterwards; the next change comes after it."""
    yield
    wired.configuration.apply({}, "ann")


def change(wired: Wired, settings: dict[str, object]) -> None:
    """Publish a change, and return when this process has taken it up."""
    number = wired.configuration.apply({"settings": settings}, "ann").number
    wait_until(lambda: wired.bridge.live.current().version == number, 3, "the version is in force")


def wait_of(world: World, name: str) -> float:
    """For how many seconds the messages of a person still wait."""
    conversation = world.bridge.conversations.get(world.chat(name))
    assert conversation is not None
    assert conversation.flush_at is not None
    return (conversation.flush_at - world.bridge.clock.now()).total_seconds()


def test_g5_what_waits_keeps_its_deadline_and_the_next_message_has_the_new_one(world: World) -> None:
    change(world.wired, {"debounce": {"idle_seconds": NOT_YET}})
    world.receive(world.text("waits", "ann"))
    assert wait_of(world, "ann") > NOT_YET - 10
    change(world.wired, {"debounce": {"idle_seconds": 1}})
    assert wait_of(world, "ann") > NOT_YET - 15
    world.receive(world.text("comes", "bob"))
    assert wait_of(world, "bob") <= 1


def test_g5_an_engine_that_is_described_now_answers_the_next_message(
    world: World, simulated_engine: EngineSimulator
) -> None:
    own = {"kind": "openai", "model": "m", "base_url": f"{simulated_engine.base_url}/v1"}
    change(world.wired, {"engines": {"own": own}})
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": {"engine": "own"}})
    world.receive(world.text("hello"))
    world.make_due()
    turn = world.flush()
    assert turn is not None
    answered = world.answer(turn)
    assert answered.engine_call is not None
    assert (answered.engine_call.engine, len(simulated_engine.calls)) == ("own", 1)


def test_g5_a_budget_counts_from_the_next_message_on(world: World) -> None:
    change(world.wired, {"reply": {"sends_per_message": 3}})
    world.receive(world.text("hello"))
    conversation = world.bridge.conversations.get(world.chat())
    assert conversation is not None
    assert conversation.sends_left == 3
