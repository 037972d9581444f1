"""What the soak reads from the simulated WeCom."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from tests.soak.evidence_wecom import Texts, arrivals, sends
from tests.soak.record import Record, Said
from tests.soak.voices import Voices
from tests.support.wecom_world import WecomWorld
from wechat_bridge.model.turn import Turn
from wechat_bridge.simulators.ilink import IlinkControl
from wechat_bridge.simulators.wecom import WecomControl, WecomOptions, WecomSimulator
from wechat_bridge.wiring import Wired


class Moody(BaseHTTPRequestHandler):
    """Takes a callback when ``moods`` says so, and ends the connection otherwise."""

    moods: list[bool]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.moods.pop(0):
            self.send_response(200)
            self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def wecom() -> Iterator[WecomSimulator]:
    """A simulated WeCom that repeats at once."""
    with WecomSimulator(WecomOptions(callback_attempts=2)) as running:
        yield running


@pytest.fixture
def url() -> Iterator[str]:
    """Where a receiver of callbacks is."""
    with HTTPServer(("127.0.0.1", 0), Moody) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def say(wired: Wired, control: WecomControl, url: str, wish: str = "plain") -> tuple[Record, Said]:
    world, record = WecomWorld.of_app(wired, control), Record()
    control.set_app(world.bot_id, callback_url=url)
    record.say(Voices(IlinkControl(control.base_url), control).say(world, "ann", "hello", wish))
    control.callbacks(world.bot_id, count=1)
    return record, record.said[0]


def test_a_delivery_without_an_answer_and_its_repeat_are_one_arrival(
    wired: Wired, wecom: WecomSimulator, url: str
) -> None:
    Moody.moods = [False, True]
    record, said = say(wired, wecom.control, url)

    found = arrivals(record, wecom.control)[said.message_id]
    assert found.kept is not None
    assert found.began < found.kept
    assert [outcome.partition(":")[0] for _, _, outcome in found.failed] == ["no answer"]
    assert not found.is_given_up


def test_what_wecom_delivers_no_more_was_never_kept(wired: Wired, wecom: WecomSimulator, url: str) -> None:
    Moody.moods = [False, False]
    record, said = say(wired, wecom.control, url)

    found = arrivals(record, wecom.control)[said.message_id]
    assert (found.kept, len(found.failed), found.is_given_up) == (None, 2, True)


def test_a_delivery_lost_on_the_way_never_reached_us(wired: Wired, wecom: WecomSimulator, url: str) -> None:
    Moody.moods = [True]
    record, said = say(wired, wecom.control, url, "callback lost")

    found = arrivals(record, wecom.control)[said.message_id]
    assert (found.failed, found.kept is None) == ((), False)


def test_a_send_is_known_by_its_chunk_and_told_as_refused_unless_it_was_shown(
    wired: Wired, wecom: WecomSimulator
) -> None:
    world = WecomWorld.of_app(wired, wecom.control)
    for script in ({"errcode": -1}, {"cut": True, "process": True}):
        wecom.control.script("message/send", world.bot_id, **script)
    turn: Turn = world.answered("hello")
    for _ in range(3):
        world.send(turn)

    texts = Texts([world.turn(turn.id).model_dump() | {"_id": turn.id}])
    found: list[dict[str, Any]] = [row for row in sends(wecom.control, texts) if row["user_id"] == world.user()]
    assert [row["refused"] for row in found] == ["errcode -1", "", ""]
    assert {row["client_id"] for row in found} == {turn.chunks[0].client_id}
    assert [row["text"] for row in texts.shown(wecom.control.deliveries(world.user()))] == ["hello"]
