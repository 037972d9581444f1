"""A process is killed after every single call of one message's travel: the person is answered once.

To be killed before a call leaves the same as to be killed after the one before it.
"""

from __future__ import annotations

import pytest

from tests.support.mortal import Death, Lives
from tests.support.variations import engine
from tests.support.world import World
from wechat_bridge.errors import EngineRefused
from wechat_bridge.simulators.ilink import IlinkSimulator
from wechat_bridge.wiring import Wired

pytestmark = pytest.mark.slow


def lives(wired: Wired, simulator: IlinkSimulator, death: Death, *answers: Exception) -> Lives:
    """A channel at which a message waits, and a process with this fate; the engine echoes, or fails so."""
    world = World.create(wired, simulator.control, simulator.base_url)
    if answers:
        world, _ = engine(world, *answers)
    # What the bridge cannot mend is not asked of it: a server that repeats nothing, one that ignores client_id.
    simulator.control.set_options(world.bot_id, hold_seconds=0.02, cursor="redeliver", dedupe_client_id=True)
    simulator.control.say(world.bot_id, world.user(), "hello")
    return Lives(world, death)


def calls_of_a_whole_life(wired: Wired, simulator: IlinkSimulator, *answers: Exception) -> list[str]:
    """The calls from the doorbell of the first poll to the end of the turn, by name and number."""
    immortal = Death(0)
    whole = lives(wired, simulator, immortal, *answers)
    whole.live_and_die()
    assert len(whole.world.delivered()) == 1
    end(whole)
    return immortal.calls


def end(case: Lives) -> None:
    """Take the channel out of the way of the next case."""
    case.world.bridge.channels.collection.delete_one({"_id": case.world.share_id})


def check(case: Lives, point: str, row_state: str, turn_state: str) -> None:
    """The message and its turn have ended so, and the channel is still polled."""
    world, bridge = case.world, case.world.bridge
    rows = list(bridge.inbox.collection.find({"share_id": world.share_id}))
    assert [row["state"] for row in rows] == [row_state], point
    turns = list(bridge.turns.collection.find({"share_id": world.share_id}))
    assert [(turn["state"], turn["open"], turn["owner"], turn["ring_at"]) for turn in turns] == [
        (turn_state, False, None, None)
    ], point
    conversation = bridge.conversations.get(world.chat())
    assert conversation is not None
    assert (conversation.flush_at, conversation.blocked) == (None, False), point
    channel = world.channel
    assert (channel.status, channel.poll_owner) == ("online", None), point
    assert channel.next_poll_at is not None, point
    assert world.control.stats(world.bot_id)["overlaps"] == [], point


def test_a_message_survives_the_death_of_its_process_at_every_call(wired: Wired, simulator: IlinkSimulator) -> None:
    calls = calls_of_a_whole_life(wired, simulator)
    for step in ("locks.take 1", "door.poll 1", "inbox.add 1", "turns.open 1", "engine.answer 1", "door.send_text 1"):
        assert step in calls
    for number, name in enumerate(calls, 1):
        point = f"after {name} (call {number} of {len(calls)})"
        case = lives(wired, simulator, Death(number))
        case.live_and_die()
        case.go_on()
        assert case.world.delivered() == ["hello"], point
        check(case, point, "done", "sent")
        end(case)


def test_a_message_that_is_given_up_becomes_one_dead_letter_wherever_its_process_dies(
    wired: Wired, simulator: IlinkSimulator
) -> None:
    refusal = EngineRefused("no such model")
    calls = calls_of_a_whole_life(wired, simulator, refusal)
    engine_asked = calls.index("engine.answer 1")
    for number, name in enumerate(calls[engine_asked:], engine_asked + 1):
        point = f"after {name} (call {number} of {len(calls)})"
        case = lives(wired, simulator, Death(number), refusal)
        case.live_and_die()
        case.go_on()
        check(case, point, "failed", "dead")
        letters = list(case.world.bridge.dead_letters.collection.find({"share_id": case.world.share_id}))
        assert [(letter["error_class"], letter["stage"]) for letter in letters] == [("EngineRefused", "reply")], point
        assert case.world.delivered() in ([], [case.world.bridge.settings.reply.apology]), point
        end(case)
