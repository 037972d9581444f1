"""Engines that take media by a link only: what they get, and what the question says when there is no link."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from tests.support.media import at_the_cdn, document, image, looking, question, sent, text, voice
from tests.support.pictures import noise, pdf, png, silk
from tests.support.variations import using
from tests.support.world import KEY, World
from wechat_bridge.engines.base import Answer, Attachment, Question
from wechat_bridge.engines.fastgpt import FastGptEngine
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.model.engine import FastGptEngineSettings
from wechat_bridge.model.message import ItemKind
from wechat_bridge.simulators.engine import EngineSimulator
from wechat_bridge.store.media_links import MediaLinks

BASE = "http://127.0.0.1:1"
"""Nobody listens there: the engine meets a refused connection, as it would at a wrong PUBLIC_BASE_URL."""


@pytest.fixture
def cdn(quick: World, simulated_engine: EngineSimulator) -> Iterator[World]:
    """A channel that fetches from the simulated CDN and asks FastGPT, on a bridge without a public address."""
    http = EngineHttp(pool_maxsize=2)
    base_url = f"{simulated_engine.base_url}/api"
    described = FastGptEngineSettings(kind="fastgpt", base_url=base_url, api_key=SecretStr("k" * 20))
    yield at_the_cdn(using(quick, engines={"echo": FastGptEngine("echo", described, http)}))
    http.close()


class LinksOnly:
    """Takes everything by a link, and answers all the same."""

    name = "echo"

    def answer(self, question: Question) -> Answer:
        return Answer("ok")

    def needs_link(self, media: Attachment) -> bool:
        return True


class Listening:
    """Understands every voice in the same way."""

    def text_of(self, data: bytes, mime: str, deadline_seconds: float) -> str:
        return "开灯"


def public(world: World) -> World:
    """The world with a public address."""
    return using(world, media_links=MediaLinks([SecretStr(KEY)], BASE, 600))


def test_without_a_public_address_the_question_says_so_in_its_place_and_the_text_goes(
    cdn: World, simulated_engine: EngineSimulator, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = document(cdn, noise(300, "zip"), "all.zip")
    turn = sent(cdn, text("看"), image(cdn, png()), document(cdn, pdf()), archive, voice(cdn, silk()), text("谢谢"))
    missing = "「图片无法读取：没有公开链接」\n「文件 plan.pdf 无法读取：没有公开链接」"
    asked = f"看\n{missing}\n[文件 all.zip]\n[语音，无文字]\n谢谢"
    assert question(cdn, turn) == asked
    assert simulated_engine.calls[0].body["messages"] == [{"role": "user", "content": asked}]
    said = [line for line in capsys.readouterr().out.splitlines() if "media_without_link" in line]
    assert len(said) == 2
    assert all("set PUBLIC_BASE_URL" in line and turn.trace_id in line for line in said)


def test_with_one_the_engine_gets_links_that_lead_to_what_was_sent(
    cdn: World, simulated_engine: EngineSimulator
) -> None:
    world = public(cdn)
    turn = sent(world, text("看"), image(world, png()), document(world, pdf()))
    assert question(world, turn) == "看\n[图片]\n[文件 plan.pdf]"
    _, picture, plan = simulated_engine.calls[0].body["messages"][0]["content"]
    opened = [
        world.bridge.media_links.opened(urlsplit(link).path.removeprefix("/media/"), world.bridge.clock.now())
        for link in (picture["image_url"]["url"], plan["url"])
    ]
    assert [found.media_id for found in opened if found and not found.is_expired] == [
        f"in:{turn.message_ids[0]}:1",
        f"in:{turn.message_ids[0]}:2",
    ]
    assert [each.status for each in simulated_engine.fetched] == [0, 0], "the question is answered even so"


def test_a_voice_that_was_understood_misses_no_link(cdn: World, capsys: pytest.CaptureFixture[str]) -> None:
    world = using(cdn, engines={"echo": LinksOnly()})
    unheard = sent(world, voice(world, silk()))
    assert question(world, unheard) == "「语音无法读取：没有公开链接」"
    deliver.deliver_reply(world.bridge, unheard.id)
    assert "media_without_link" in capsys.readouterr().out
    heard = using(world, speech_to_text=Listening())
    assert question(heard, sent(heard, voice(heard, silk()))) == "开灯"
    assert "media_without_link" not in capsys.readouterr().out


def test_an_engine_that_does_not_ask_for_links_gets_the_media_as_ever(cdn: World) -> None:
    world, looker = looking(cdn)
    assert question(world, sent(world, image(world, png()))) == "[图片]"
    assert [(each.kind, each.link) for each in looker.asked[0].media] == [(ItemKind.IMAGE, "")]
    assert looker.read == [png()]


def test_nothing_of_a_link_is_kept_or_logged(
    cdn: World, simulated_engine: EngineSimulator, capsys: pytest.CaptureFixture[str]
) -> None:
    world = public(cdn)
    turn = sent(world, image(world, png()))
    simulated_engine.script(status=500, code=514000, message="cannot fetch the picture")
    reply.generate_reply(world.bridge, turn.id)
    record_dead_letter(world.bridge, turn.id)
    link = simulated_engine.calls[0].body["messages"][0]["content"][1]["image_url"]["url"]
    assert "/media/gAAAA" in link
    letter = world.bridge.dead_letters.get(turn.id)
    assert letter is not None
    kept = letter.model_dump_json() + world.turn(turn.id).model_dump_json() + "".join(capsys.readouterr())
    assert "cannot fetch the picture" in kept
    assert "gAAAA" not in kept
