"""What only the engine for Dify does: conversations that Dify names, uploads, events."""

from __future__ import annotations

from typing import Any

import pytest

from tests.channels.scripted_server import Exchange, ScriptedServer
from tests.engines.asking import Kind, Maker, question
from tests.engines.sent_media import medium, needs_link
from wechat_bridge.engines.base import Attachment
from wechat_bridge.errors import EngineRefused, EngineUnavailable
from wechat_bridge.model.message import ItemKind
from wechat_bridge.simulators.engine import EngineSimulator

BOTH = pytest.mark.parametrize("kind", [Kind("dify", True), Kind("dify", False)], ids=str)


@BOTH
def test_a_conversation_goes_on_under_the_name_that_dify_gave_it(
    kind: Kind, maker: Maker, server: EngineSimulator
) -> None:
    engine = maker.make(kind, inputs={"shop": "小店"})
    first = engine.answer(question("一"))
    second = engine.answer(question("二", engine_conversation=first.engine_conversation))
    assert first.engine_conversation == second.engine_conversation != ""
    bodies = [call.body for call in server.calls]
    assert [body["conversation_id"] for body in bodies] == ["", first.engine_conversation]
    assert bodies[0]["user"] == bodies[1]["user"]
    assert bodies[0]["inputs"] == {"shop": "小店"}
    assert "ann" not in bodies[0]["user"]


@BOTH
def test_a_conversation_that_is_gone_is_begun_anew_once(kind: Kind, maker: Maker, server: EngineSimulator) -> None:
    answer = maker.make(kind).answer(question("在吗", engine_conversation="gone"))
    assert answer.text == "在吗"
    assert answer.engine_conversation not in ("", "gone")
    assert [call.body["conversation_id"] for call in server.calls] == ["gone", ""]


def test_a_404_without_a_conversation_is_given_up(maker: Maker, server: EngineSimulator) -> None:
    server.script(status=404, times=2)
    with pytest.raises(EngineRefused, match="404"):
        maker.make("dify").answer(question(engine_conversation="c"))
    assert len(server.calls) == 2


@BOTH
def test_tokens_are_recorded_and_thoughts_left_out(kind: Kind, maker: Maker, server: EngineSimulator) -> None:
    server.script(text="好", reasoning="secret thought")
    answer = maker.make(kind).answer(question())
    assert (answer.text, answer.prompt_tokens, answer.completion_tokens) == ("好", 13, 5)


def test_what_moderation_puts_in_the_place_of_an_answer_replaces_it(maker: Maker, server: EngineSimulator) -> None:
    stream = (
        'data: {"event": "message", "answer": "bad"}\n\n'
        'data: {"event": "message_replace", "answer": "better"}\n\n'
        'data: {"event": "message_end", "conversation_id": "c1"}\n\n'
    )
    server.script(body=stream, headers={"Content-Type": "text/event-stream"})
    answer = maker.make(Kind("dify", True)).answer(question())
    assert (answer.text, answer.engine_conversation) == ("better", "c1")


def test_half_a_stream_is_no_answer(maker: Maker, server: EngineSimulator) -> None:
    server.script(text="half", unfinished=True)
    with pytest.raises(EngineUnavailable, match="ended before"):
        maker.make(Kind("dify", True)).answer(question())


def test_files_are_uploaded_and_named(maker: Maker, server: EngineSimulator) -> None:
    media = (
        Attachment(ItemKind.IMAGE, "image/png", 3, "", lambda: b"png"),
        Attachment(ItemKind.FILE, "text/plain", 3, 'a "b".txt', lambda: b"txt"),
        Attachment(ItemKind.FILE, "text/plain", 10**9, "too large", lambda: b""),
    )
    assert maker.make("dify", files=True).answer(question("看", media=media)).text == "看"
    first, second, asking = server.calls
    assert (first.body["name"], second.body["name"]) == ("picture.png", "a 'b'.txt")
    assert first.body["user"] == asking.body["user"]
    assert (first.data, second.data) == (b"png", b"txt")
    assert [file["type"] for file in asking.body["files"]] == ["image", "document"]


def test_a_file_too_large_to_upload_goes_as_a_link(maker: Maker, server: EngineSimulator) -> None:
    large = medium("video", "video/mp4", size=10**8, link="http://127.0.0.1:1/film")
    engine = maker.make("dify", files=True)
    engine.answer(question(media=(large, medium("file", "text/plain", size=10**8))))
    by_link = {"type": "video", "transfer_method": "remote_url", "url": "http://127.0.0.1:1/film"}
    assert [call.body["files"] for call in server.calls] == [[by_link]]
    assert needs_link(engine, large)
    assert not needs_link(engine, medium("image", "image/png"))
    assert not needs_link(maker.make("dify"), large), "an app that takes no files misses nothing"


@pytest.mark.parametrize(("status", "named"), [("413 Too Large", ["remote_url"]), ("415 Unsupported", [])])
def test_a_file_that_dify_finds_too_large_goes_as_a_link_and_one_of_a_kind_it_does_not_know_not_at_all(
    maker: Maker, status: str, named: list[str]
) -> None:
    asked: list[dict[str, Any]] = []

    def answer(exchange: Exchange) -> None:
        if exchange.request.path.endswith("/files/upload"):
            exchange.answer(b"{}", status)
            return
        asked.append(exchange.request.json())
        exchange.answer_json({"event": "message", "answer": "ok", "conversation_id": "c"})

    picture = Attachment(ItemKind.IMAGE, "image/png", 3, "", lambda: b"png", "http://127.0.0.1:1/p")
    with ScriptedServer(answer) as other:
        engine = maker.make(Kind("dify", False), other.url, files=True)
        assert engine.answer(question(media=(picture,))).text == "ok"
    assert [file["transfer_method"] for file in asked[0]["files"]] == named


def test_an_app_that_takes_no_files_gets_none(maker: Maker, server: EngineSimulator) -> None:
    media = (Attachment(ItemKind.IMAGE, "image/png", 3, "", lambda: b"png"),)
    maker.make("dify").answer(question("[图片]", media=media))
    assert [call.body["files"] for call in server.calls] == [[]]
