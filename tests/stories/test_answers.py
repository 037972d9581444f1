"""Messages travel through real workers and come back answered."""

from __future__ import annotations

import random
import time

import pytest

from tests.support.system import System, wait_until
from wechat_bridge.model import keys

pytestmark = pytest.mark.story


def test_one_message_is_answered_and_leaves_its_trace_in_the_ledger(system: System) -> None:
    world = system.channel()
    (message_id,) = system.control.say(world.bot_id, world.user(), "hello")
    delivery = system.control.wait_for_delivery(world.user(), timeout_seconds=20)
    assert delivery is not None
    assert delivery["text"] == "hello"
    turn = world.turn(keys.turn_id(world.share_id, message_id))
    wait_until(lambda: not world.turn(turn.id).open, 5, "the turn is closed")
    row = world.bridge.inbox.get(keys.inbox_id(world.share_id, message_id))
    assert row is not None
    assert (row.state, row.turn_id) == ("done", turn.id)
    assert f'"task_id": "{turn.id}"' in system.log_of("reply"), "the turn id is the Celery task id"


def test_two_hundred_messages_of_fifty_people_are_each_answered_once_and_in_order(system: System) -> None:
    worlds = system.channels(20)
    people = [(worlds[number % 20], f"user{number}") for number in range(50)]
    said: dict[str, list[str]] = {world.user(name): [] for world, name in people}
    for number in range(200):
        world, name = random.choice(people)
        text = f"message {number}"
        said[world.user(name)].append(text)
        system.control.say(world.bot_id, world.user(name), text)
    wait_until(lambda: all(len(_heard(system, user)) >= len(said[user]) for user in said), 60, "everybody is answered")
    assert {user: _heard(system, user) for user in said} == said
    assert system.overlaps(worlds) == 0


def test_a_second_beat_and_doubled_doorbells_change_nothing(system: System) -> None:
    world = system.channel()
    system.start("beat", "beat2")
    system.wait_polling([world])
    since, started = time.time(), time.monotonic()
    while time.monotonic() - started < 6:
        world.bridge.doorbells.ring_poll(world.share_id, world.channel.generation)
        world.bridge.doorbells.ring_poll(world.share_id, max(0, world.channel.generation - 1))
        time.sleep(0.05)
    system.control.say(world.bot_id, world.user(), "still one")
    assert system.control.wait_for_delivery(world.user(), timeout_seconds=10) is not None
    system.stop("beat2")
    assert system.overlaps([world]) == 0
    assert len(system.polls_since(world, since)) <= 6, "about one poll in each 3 s of hold"
    assert _heard(system, world.user()) == ["still one"]


def test_a_message_right_after_an_idle_poll_is_answered_without_a_gap(system: System) -> None:
    world = system.channel()
    wait_until(lambda: len(system.control.polls(world.bot_id)) > 1, 20, "an idle poll ended")
    started = time.monotonic()
    system.control.say(world.bot_id, world.user(), "quick")
    assert system.control.wait_for_delivery(world.user(), timeout_seconds=10) is not None
    assert time.monotonic() - started < 1.5
    first, second = system.control.polls(world.bot_id)[:2]
    assert first["outcome"] == "empty"
    assert second["started_at"] - first["ended_at"] < 1


def test_intake_is_not_delayed_by_an_engine_that_takes_its_time(system: System) -> None:
    world = system.channel(engine="slow")
    system.wait_polling([world])
    system.control.say(world.bot_id, world.user("slow"), "8 slowly")
    wait_until(lambda: "slowly" in system.engine_calls(), 15, "the engine is asked")
    for number in range(5):
        system.control.say(world.bot_id, world.user(f"quick{number}"), f"0 answer {number}")
    started = time.monotonic()
    for number in range(5):
        assert system.control.wait_for_delivery(world.user(f"quick{number}"), timeout_seconds=10) is not None
    assert time.monotonic() - started < 4
    assert _heard(system, world.user("slow")) == []
    wait_until(lambda: _heard(system, world.user("slow")) == ["slowly"], 15, "the slow answer")


def _heard(system: System, user: str) -> list[str]:
    """What a user heard, turn by turn; a turn that merged several messages counts as those."""
    return [line for row in system.control.deliveries(user) for line in row["text"].split("\n")]
