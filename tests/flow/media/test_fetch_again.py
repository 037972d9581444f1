"""Fetching in more than one try: what fails for a while, slow servers, turns worked on again, and voices."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from tests.support.media import at_the_cdn, image, looking, question, sent, stored, text, voice
from tests.support.pictures import png, silk
from tests.support.variations import engine, setting, using
from tests.support.world import World
from wechat_bridge.channels.base import MediaDoor
from wechat_bridge.errors import EngineUnavailable, PlatformUnavailable
from wechat_bridge.flow import reply
from wechat_bridge.flow.media import fetch as media_module
from wechat_bridge.model.channel import Account
from wechat_bridge.model.media import MediaState
from wechat_bridge.model.turn import TurnState


@pytest.fixture
def cdn(quick: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A channel that polls step by step and fetches from the simulated CDN."""
    monkeypatch.setattr(media_module, "PAUSE_SECONDS", 0.01)
    quick.control.clear_script()
    return at_the_cdn(quick)


def test_a_few_tries_are_made_and_then_the_turn_goes_on(cdn: World) -> None:
    world, looker = looking(cdn)
    item = image(world, png())
    world.control.script("download", status=503, body="busy", times=2)
    assert question(world, sent(world, item)) == "[图片]"
    assert looker.read == [png()]
    other = at_the_cdn(world)
    other.answer(*[turn for turn in [world.bridge.turns.open_of(world.chat())] if turn])
    world.control.script("download", cut=True, times=3)
    assert question(world, sent(world, image(world, png()), text("look"))) == "「图片无法读取：下载失败」\nlook"


def test_one_slow_picture_takes_no_more_than_its_time(cdn: World) -> None:
    world = setting(cdn, "media", fetch_seconds=0.3)
    turn = sent(world, image(world, png()), image(world, png()), text("look"))
    world.control.script("download", hang=True, times=None)
    began = time.monotonic()
    assert question(world, turn) == "「图片无法读取：下载超时」\n「图片无法读取：下载超时」\nlook"
    assert time.monotonic() - began < 3


def test_the_lease_lasts_for_pictures_and_engine_together(cdn: World) -> None:
    world, looker = looking(cdn)
    turn = sent(world, text("hi"))
    reply.generate_reply(world.bridge, turn.id)
    settings = world.bridge.settings
    whole = settings.media.fetch_seconds + settings.reply.engine_deadline_seconds
    assert looker.leases[0] > whole


def test_a_turn_that_is_worked_on_again_fetches_nothing_again(cdn: World) -> None:
    failing, scripted = engine(cdn, EngineUnavailable("later"), "at last")
    turn = sent(failing, image(failing, png()), {"type": 2, "image_item": {"media": {"encrypt_query_param": "x"}}})
    reply.generate_reply(failing.bridge, turn.id)
    before = failing.control.stats()["requests"]["download"]
    failing.bridge.turns.collection.update_one(
        {"_id": turn.id}, {"$set": {"next_attempt_at": failing.bridge.clock.now()}}
    )
    assert question(failing, turn) == "[图片]\n「图片无法读取：文件不存在」"
    assert failing.control.stats()["requests"]["download"] == before
    assert [len(asked.media) for asked in scripted.asked] == [1, 1]
    assert scripted.asked[1].media[0].read() == png()


def test_what_could_not_be_had_is_tried_anew_when_a_person_replays_the_turn(cdn: World) -> None:
    world, looker = looking(cdn)
    turn = sent(world, image(world, png()))
    world.control.script("download", status=500, body="", times=3)
    assert question(world, turn) == "「图片无法读取：下载失败」"
    fresh = {"state": "queued", "generate_attempts": 0, "next_attempt_at": world.bridge.clock.now()}
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": fresh})
    assert question(world, turn) == "[图片]"
    assert looker.read == [png()]


def test_a_process_that_stops_while_it_fetches_leaves_the_turn_to_another(cdn: World) -> None:
    turn = sent(cdn, image(cdn, png()))

    [kind] = cdn.bridge.media_doors
    cut = using(cdn, media_doors={kind: CutDoor(cdn.bridge.stopping, cdn.bridge.media_doors[kind])})
    try:
        reply.generate_reply(cut.bridge, turn.id)
    finally:
        cdn.bridge.stopping.clear()
    assert (cdn.turn(turn.id).state, stored(cdn, turn)[0].state) == (TurnState.QUEUED, MediaState.RECEIVING)
    cdn.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"next_attempt_at": cdn.bridge.clock.now()}})
    assert question(cdn, turn) == "[图片]"


class CutDoor:
    """Is cut while it fetches, because its process stops."""

    def __init__(self, stopping: threading.Event, door: MediaDoor) -> None:
        self._stopping = stopping
        self.upload, self.send = door.upload, door.send

    def fetch(
        self, account: Account, raw: str, position: int, sink: Callable[[bytes], object], total_seconds: float
    ) -> None:
        self._stopping.set()
        raise PlatformUnavailable("cut")


def test_a_message_with_a_thousand_pictures_is_not_fetched_for_hours(cdn: World) -> None:
    many = [{"type": 2, "image_item": {"media": {"full_url": "file:///x"}}}] * 1_000
    lines = question(cdn, sent(cdn, *many)).split("\n")
    assert lines[49:51] == ["「图片无法读取：下载地址不被允许」", "「图片无法读取：附件过多」"]
    assert len(lines) == 1_000


def test_where_a_platform_fetches_no_media_the_marker_says_so(cdn: World) -> None:
    world = using(cdn, media_doors={})
    assert question(world, sent(world, image(world, png()), text("hi"))) == "「图片无法读取：此渠道不支持」\nhi"


class Listener:
    """Understands every voice, or none."""

    def __init__(self, text: str | Exception) -> None:
        self.heard: list[tuple[bytes, str]] = []
        self._text = text

    def text_of(self, data: bytes, mime: str, deadline_seconds: float) -> str:
        assert deadline_seconds > 0
        self.heard.append((data, mime))
        if isinstance(self._text, Exception):
            raise self._text
        return self._text


def test_a_voice_is_read_by_whoever_understands_speech_and_once(cdn: World) -> None:
    failing, _ = engine(cdn, EngineUnavailable("later"), "at last")
    listener = Listener("turn on the light")
    world = using(failing, speech_to_text=listener)
    turn = sent(world, voice(world, silk()))
    reply.generate_reply(world.bridge, turn.id)
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"next_attempt_at": world.bridge.clock.now()}})
    assert question(world, turn) == "turn on the light"
    assert listener.heard == [(silk(), "audio/silk")]


@pytest.mark.parametrize("said", ["", EngineUnavailable("away")])
def test_a_voice_that_nobody_understands_is_a_notice(cdn: World, said: str | Exception) -> None:
    world = using(cdn, speech_to_text=Listener(said))
    assert question(world, sent(world, voice(world, silk()))) == "[语音，无文字]"
