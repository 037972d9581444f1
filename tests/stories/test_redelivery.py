"""Redis delivers again what waits unacknowledged for longer than the visibility timeout (reports 24 and 25)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.system import PLUGIN, System, wait_until
from tests.support.world import World

pytestmark = [pytest.mark.story, pytest.mark.slow]

RECEIVED = "received.log"
SHORTENED = Path(__file__).with_name("plugin")
RETRY_SECONDS = 20.0
"""Four visibility timeouts: an hour's retry at the usual 15 minutes."""


@pytest.fixture(scope="module")
def pair(make_system: Callable[..., System]) -> Iterator[System]:
    """Two reply workers whose broker delivers again after five seconds."""
    with make_system(PYTHONPATH=os.pathsep.join(map(str, (SHORTENED, PLUGIN)))) as system:
        system.environment["STORY_RECEIVED_LOG"] = str(system.directory / RECEIVED)
        system.start_all()
        system.start("reply", "reply-2")
        system.wait_alive(5)
        yield system


def test_what_waits_or_works_for_several_timeouts_happens_once(pair: System) -> None:
    """A delivery waits 20 s for its next attempt, an engine thinks for 12 s."""
    waiting, thinking = pair.channel(), pair.channel(engine="slow")
    pair.wait_polling([waiting, thinking])
    _block_sends(waiting, RETRY_SECONDS)
    pair.say([waiting], "hello")
    pair.say([thinking], "12 slowly")
    wait_until(lambda: _deliveries(pair, waiting) >= 2, RETRY_SECONDS - 2, "a copy of the waiting delivery")
    assert pair.heard(waiting) == []
    wait_until(lambda: (pair.heard(waiting), pair.heard(thinking)) == (["hello"], ["slowly"]), 25, "both answers")
    pair.say([waiting], "and after that")
    pair.assert_heard([waiting], ["hello", "and after that"], 15)
    assert pair.engine_calls() == ["slowly"]
    sends = [send["text"] for world in (waiting, thinking) for send in pair.control.sends(world.bot_id)]
    assert sorted(sends) == ["and after that", "hello", "slowly"]


def _block_sends(world: World, seconds: float) -> None:
    until = world.bridge.clock.after(seconds)
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": {"send_blocked_until": until}})


def _deliveries(system: System, world: World) -> int:
    """How often a worker was given the delivery of this channel's turn."""
    given = (system.directory / RECEIVED).read_text(encoding="utf-8").splitlines()
    return len([task_id for task_id in given if task_id.startswith(f"deliver:wechat-reply:{world.share_id}:")])
