"""Messages travel through real workers and come back answered."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.support import media
from tests.support.pictures import pdf, png
from tests.support.system import System, wait_until
from tests.support.world import World
from wechat_bridge.flow.channel.configure import configure
from wechat_bridge.model import keys
from wechat_bridge.model.channel import QueueMode

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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_channel_that_interrupts_answers_the_newest_and_one_that_follows_up_each(system: System) -> None:
    worlds = interrupting, following = system.channels(2, engine="slow")
    modes = ((QueueMode.INTERRUPT, 14), (QueueMode.FOLLOWUP, 2))
    for world, (mode, seconds) in zip(worlds, modes, strict=True):
        configure(world.bridge, world.share_id, {"queue_mode": mode}, {"label": "AI"}, "a story")
        system.control.say(world.bot_id, world.user(), f"{seconds} first {mode}")
    wait_until(lambda: {"first interrupt", "first followup"} <= set(system.engine_calls()), 15, "both are worked on")
    for world, (_, seconds) in zip(worlds, modes, strict=True):
        for text in (f"{seconds} second", "0 third"):
            system.control.say(world.bot_id, world.user(), text)
    wait_until(interrupting.delivered, 12, "the newest is answered before the first would have been")
    wait_until(lambda: len(following.delivered()) == 3, 15, "each is answered")
    assert interrupting.delivered() == ["third\n\nAI"]
    assert following.delivered() == [f"{text}\n\nAI" for text in ("first followup", "second", "third")]


def test_a_picture_and_a_file_come_in_and_go_out_again(system: System) -> None:
    world = system.channel(engine="mirror")
    picture, file = png(1_000_000), pdf()
    items = [media.text("turn it round"), media.image(world, picture), media.document(world, file)]
    system.control.send_items(world.bot_id, world.user(), items)
    wait_until(lambda: len(system.control.deliveries(world.user())) == 3, 20, "a text, a picture and a file")
    said, image, document = system.control.deliveries(world.user())
    assert said["text"] == "turn it round\n[图片]\n[文件 plan.pdf]"
    assert _plain(world, image, "image_item") == picture[:8] + picture[:7:-1]
    assert _plain(world, document, "file_item") == file[:8] + file[:7:-1]
    assert document["item"]["file_item"]["file_name"] == "plan.pdf"
    assert (image["media_readable"], document["media_readable"]) == (True, True)


def test_a_picture_that_is_not_there_costs_no_text_and_delays_nobody(system: System) -> None:
    world = system.channel(engine="mirror")
    gone = {"type": 2, "image_item": {"media": {"full_url": f"{system.base_url}/c2c/download?encrypted_query_param=x"}}}
    system.control.send_items(world.bot_id, world.user(), [media.text("see"), gone])
    system.control.say(world.bot_id, world.user("bob"), "hello")
    delivery = system.control.wait_for_delivery(world.user(), timeout_seconds=20)
    assert delivery is not None
    assert delivery["text"] == "see\n「图片无法读取：文件不存在」"
    assert system.control.wait_for_delivery(world.user("bob"), timeout_seconds=10) is not None


def _heard(system: System, user: str) -> list[str]:
    """What a user heard, turn by turn; a turn that merged several messages counts as those."""
    return [line for row in system.control.deliveries(user) for line in row["text"].split("\n")]


def _plain(world: World, row: dict[str, Any], name: str) -> bytes:
    return world.control.get_media(row["item"][name]["media"]["encrypt_query_param"])


def test_an_operator_writes_to_a_person_from_the_command_line(system: System) -> None:
    world = system.channel()
    system.control.say(world.bot_id, world.user(), "hello")
    wait_until(lambda: world.delivered() == ["hello"], 15, "it is answered")
    for _ in range(2):
        ended = _command(system, "send", world.share_id, world.user(), "your parcel is here", "--id", "parcel-7")
        assert (ended.returncode, ended.stderr.splitlines()[-1]) == (0, "sent")
    assert world.delivered() == ["hello", "your parcel is here"]
    stranger = _command(system, "send", world.share_id, "stranger@im.wechat", "x")
    assert stranger.returncode == 1
    assert "never written" in stranger.stderr
    assert "Traceback" not in stranger.stderr


def _command(system: System, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of `wechat-bridge` on the system's servers."""
    command = [sys.executable, "-m", "wechat_bridge.cli.main", *words]
    return subprocess.run(
        command, env=system.environment, cwd=system.directory, capture_output=True, text=True, timeout=60, check=False
    )
