"""Workers that die or freeze in the middle of their work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from tests.support.system import System, wait_until

pytestmark = [pytest.mark.story, pytest.mark.slow]


@pytest.fixture(scope="module")
def pair(make_system: Callable[..., System]) -> Iterator[System]:
    """A system with two poll workers and two reply workers."""
    quick = {"WECHAT_BRIDGE_POLL__EMPTY_POLL_DELAY_SECONDS": "2"}
    with make_system(**quick) as running:
        running.start_all()
        running.start("poll", "poll2")
        running.start("reply", "reply2")
        running.wait_alive(6)
        yield running


def test_a_poll_worker_that_freezes_is_replaced_and_does_no_harm_when_it_wakes(pair: System) -> None:
    worlds = pair.channels(20)
    pair.wait_polling(worlds)
    wait_until(lambda: _owners(pair) == 2, 30, "both workers own links")
    pair.wait_steady()
    frozen_at = time.time()
    pair.freeze("poll")
    late = frozen_at + 4  # polls that the frozen worker had open have ended at the server by then
    wait_until(lambda: all(pair.polls_since(world, late) for world in worlds), 20, "the other worker polls them all")
    for world in worlds:
        pair.control.say(world.bot_id, world.user(), "during the freeze")
    wait_until(lambda: all(pair.heard(world) for world in worlds), 30, "everybody is answered")
    pair.thaw("poll")
    for world in worlds:
        pair.control.say(world.bot_id, world.user(), "after it")
    wait_until(lambda: all(len(pair.heard(world)) > 1 for world in worlds), 30, "everybody is answered")
    assert [pair.heard(world) for world in worlds] == [["during the freeze", "after it"]] * 20
    rows = [row for world in worlds for row in pair.control.stats(world.bot_id)["overlaps"]]
    assert [row for row in rows if row["first"]["started_at"] > frozen_at] == []


def test_a_reply_worker_killed_while_the_engine_thinks_is_replaced_within_twenty_seconds(pair: System) -> None:
    world = pair.channel(engine="slow")
    pair.wait_polling([world])
    pair.wait_steady()
    pair.control.say(world.bot_id, world.user(), "4 thought")
    wait_until(lambda: "thought" in pair.engine_calls(), 15, "the engine is asked")
    turn = world.bridge.turns.open_of(world.chat())
    assert turn is not None
    victim = pair.name_of(str(turn.owner))
    killed_at = time.time()
    pair.kill(victim)
    wait_until(lambda: pair.heard(world) == ["thought"], 30, "it is answered")
    assert time.time() - killed_at < 20 + 4
    assert pair.engine_calls().count("thought") == 2, "the answer died with its worker, so the engine is asked again"


def test_a_stopped_worker_finishes_what_it_has_begun(pair: System) -> None:
    world = pair.channel(engine="slow")
    pair.wait_polling([world])
    pair.control.say(world.bot_id, world.user(), "3 finished")
    wait_until(lambda: "finished" in pair.engine_calls(), 15, "the engine is asked")
    turn = world.bridge.turns.open_of(world.chat())
    assert turn is not None
    pair.stop(pair.name_of(str(turn.owner)), 20)
    pair.start("reply", "reply3")
    wait_until(lambda: pair.heard(world) == ["finished"], 20, "it is answered")
    assert pair.engine_calls().count("finished") == 1


def test_a_worker_that_must_end_hands_back_what_it_could_not_finish_and_no_attempt_is_counted(pair: System) -> None:
    """Acceptance F10: the engine takes longer than the grace."""
    for name in [name for name in pair.processes if name.startswith("reply")]:
        pair.stop(name, 30)
    pair.environment["WECHAT_BRIDGE_STOP_GRACE_SECONDS"] = "1"
    world = pair.channel(engine="slow")
    pair.start("reply", "hasty")
    pair.wait_polling([world])
    pair.control.say(world.bot_id, world.user(), "9 handed back")
    wait_until(lambda: "handed back" in pair.engine_calls(), 15, "the engine is asked")
    pair.start("reply", "patient")
    pair.processes["hasty"].terminate()
    turn = world.bridge.turns.open_of(world.chat())
    assert turn is not None
    wait_until(lambda: world.turn(turn.id).owner != turn.owner, 5, "it is handed back when the grace is over")
    wait_until(lambda: pair.heard(world) == ["handed back"], 25, "it is answered")
    pair.stop("hasty", 15)
    ended = world.turn(turn.id)
    assert (ended.state, ended.generate_attempts) == ("sent", 1)
    assert pair.heard(world) == ["handed back"], "what the first one found out too late is not sent"
    assert "turns_handed_back" in pair.log_of("hasty")


def _owners(system: System) -> int:
    return len({channel.poll_owner for channel in system.wired.bridge.channels.all() if channel.poll_owner})
