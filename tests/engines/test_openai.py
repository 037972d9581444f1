"""What only the engine for OpenAI's dialect does: history, pictures, streams, and the record of the call."""

from __future__ import annotations

import base64
import time
from typing import Any

import pytest

from tests.channels.scripted_server import Exchange, ScriptedServer
from tests.engines.asking import KEY, Kind, Maker, question
from tests.engines.sent_media import medium, needs_link
from wechat_bridge.engines.base import Answer, Attachment, Round
from wechat_bridge.errors import EngineRefused, EngineUnavailable, LedgerUnavailable
from wechat_bridge.model.message import ItemKind
from wechat_bridge.simulators.engine import EngineSimulator

PICTURE = b"\x89PNG picture"
GONE = "http://127.0.0.1:1/media"
BOTH = pytest.mark.parametrize("kind", [Kind("openai", True), Kind("openai", False)], ids=str)


def asked(server: EngineSimulator) -> dict[str, Any]:
    return server.calls[-1].body


def picture(mime: str = "image/png", size: int = len(PICTURE)) -> Attachment:
    return Attachment(ItemKind.IMAGE, mime, size, "", lambda: PICTURE)


@BOTH
def test_the_record_of_a_call_tells_model_tokens_and_why_it_ended(
    kind: Kind, maker: Maker, server: EngineSimulator
) -> None:
    server.script(text="好", finish_reason="length")
    answer = maker.make(kind).answer(question())
    assert answer == Answer("好", model="simulated-1", prompt_tokens=11, completion_tokens=7, finish_reason="length")


def test_key_and_turn_go_along_as_headers(maker: Maker, server: EngineSimulator) -> None:
    maker.make("openai").answer(question(turn_id="wechat-reply:shop:七\r\nX-Evil: 1"))
    headers = server.calls[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["idempotency-key"] == "wechat-reply:shop:\\u4e03X-Evil: 1"
    assert "x-evil" not in headers


def test_a_server_of_ones_own_needs_no_key(maker: Maker, server: EngineSimulator) -> None:
    assert maker.make("openai", api_key="").answer(question("hi")).text == "hi"
    assert "authorization" not in server.calls[0].headers


def test_system_prompt_and_history_stand_before_the_question(maker: Maker, server: EngineSimulator) -> None:
    history = (Round("1+1?", "2"), Round("2+2?", "4"))
    maker.make("openai", system_prompt="Be brief.").answer(question("3+3?", history=history))
    assert [(each["role"], each["content"]) for each in asked(server)["messages"]] == [
        ("system", "Be brief."),
        ("user", "1+1?"), ("assistant", "2"), ("user", "2+2?"), ("assistant", "4"),
        ("user", "3+3?"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({"history_turns": 2}, ["b", "c"]),
        ({"history_turns": 0}, []),
        ({"history_tokens": 2 * 108}, ["b", "c"]),
        ({"history_tokens": 2 * 108 - 1}, ["c"]),
        ({"history_tokens": 0}, []),
    ],
)
def test_only_the_latest_history_goes_along(
    maker: Maker, server: EngineSimulator, settings: dict[str, Any], kept: list[str]
) -> None:
    history = tuple(Round(name, "好" * 100) for name in "abc")
    maker.make("openai", **settings).answer(question(history=history))
    assert [each["content"] for each in asked(server)["messages"][:-1] if each["role"] == "user"] == kept


def test_a_model_that_sees_gets_pictures_as_they_are(maker: Maker, server: EngineSimulator) -> None:
    media = (picture(), Attachment(ItemKind.VOICE, "audio/silk", 3, "", lambda: b"abc"), picture(size=10**8))
    maker.make("openai", vision=True).answer(question("看[图片]", media=media))
    text, *pictures = asked(server)["messages"][-1]["content"]
    assert text == {"type": "text", "text": "看[图片]"}
    url = f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"
    assert pictures == [{"type": "image_url", "image_url": {"url": url}}]


def shown(server: EngineSimulator) -> list[str]:
    """Where the pictures of the last question are, or what they are."""
    content = asked(server)["messages"][-1]["content"]
    return [part["image_url"]["url"] for part in content if part["type"] == "image_url"]


def test_pictures_go_as_links_where_that_is_wanted_and_too_large_ones_always(
    maker: Maker, server: EngineSimulator
) -> None:
    small, large = (medium("image", "image/png", size=size, link=f"{GONE}/{size}") for size in (3, 10**8))
    maker.make("openai", vision=True, pictures="link").answer(question(media=(small, large)))
    assert shown(server) == [small.link, large.link]
    readable = Attachment(ItemKind.IMAGE, "image/png", 3, "", lambda: b"png", f"{GONE}/3")
    maker.make("openai", vision=True).answer(question(media=(readable, large)))
    assert shown(server) == [f"data:image/png;base64,{base64.b64encode(b'png').decode()}", large.link]


def test_a_picture_that_only_a_link_could_show_stays_a_marker_without_one(
    maker: Maker, server: EngineSimulator
) -> None:
    by_link = maker.make("openai", vision=True, pictures="link")
    by_link.answer(question("[图片]", media=(medium("image", "image/png"),)))
    assert asked(server)["messages"][-1]["content"] == "[图片]"
    inline, blind = maker.make("openai", vision=True), maker.make("openai", pictures="link")
    small, large = medium("image", "image/png"), medium("image", "image/png", size=10**8)
    assert [needs_link(by_link, each) for each in (small, large)] == [True, True]
    assert [needs_link(inline, each) for each in (small, large)] == [False, True]
    assert not needs_link(blind, large), "a model that sees nothing misses nothing"
    assert not needs_link(by_link, medium("file", "application/pdf")), "documents are markers anyhow"


def test_a_model_that_does_not_see_gets_the_marker_and_no_picture_is_read(
    maker: Maker, server: EngineSimulator
) -> None:
    def read() -> bytes:
        raise LedgerUnavailable

    media = (Attachment(ItemKind.IMAGE, "image/png", 5, "", read),)
    assert maker.make("openai").answer(question("[图片]", media=media)).text == "[图片]"
    with pytest.raises(LedgerUnavailable):
        maker.make("openai", vision=True).answer(question("[图片]", media=media))
    assert len(server.calls) == 1


def test_more_of_the_request_can_be_set_and_parts_taken_out(maker: Maker, server: EngineSimulator) -> None:
    extra = {"temperature": 0.2, "stream_options": None, "enable_thinking": False}
    maker.make("openai", extra=extra).answer(question())
    assert asked(server)["temperature"] == 0.2
    assert asked(server)["enable_thinking"] is False
    assert "stream_options" not in asked(server)


@BOTH
@pytest.mark.parametrize(
    ("script", "says"),
    [
        ({"text": "", "finish_reason": "content_filter"}, "content filter"),
        ({"tool_calls": True}, "tools"),
        ({"text": "<think>long", "finish_reason": "length"}, "tokens"),
        ({"error": {"message": "invalid model", "type": "invalid_request_error"}}, "invalid model"),
        ({"status": 429, "message": "insufficient_quota: pay first"}, "quota"),
    ],
)
def test_what_would_be_the_same_next_time_is_given_up(
    kind: Kind, maker: Maker, server: EngineSimulator, script: dict[str, Any], says: str
) -> None:
    server.script(**script)
    with pytest.raises(EngineRefused, match=says):
        maker.make(kind).answer(question())


@BOTH
def test_a_refusal_in_words_is_what_the_person_reads(kind: Kind, maker: Maker, server: EngineSimulator) -> None:
    server.script(null=True, refusal="这个我不能说。")
    assert maker.make(kind).answer(question()).text == "这个我不能说。"


@BOTH
def test_text_beside_a_call_of_a_tool_is_an_answer(kind: Kind, maker: Maker, server: EngineSimulator) -> None:
    server.script(text="看看", finish_reason="tool_calls")
    assert maker.make(kind).answer(question()).text == "看看"


def test_half_a_stream_is_no_answer(maker: Maker, server: EngineSimulator) -> None:
    server.script(text="half", unfinished=True)
    with pytest.raises(EngineUnavailable, match="ended before"):
        maker.make("openai").answer(question())


def test_a_slow_stream_is_read_to_its_end_and_a_silent_one_left(maker: Maker, server: EngineSimulator) -> None:
    engine = maker.make("openai", silence_seconds=0.4)
    server.script(text="12345678" * 8, piece_seconds=0.1)
    started = time.monotonic()
    assert engine.answer(question()).text == "12345678" * 8
    assert time.monotonic() - started > 0.8
    server.script(text="12345678" * 8, piece_seconds=5)
    with pytest.raises(EngineUnavailable, match=r"silent for 0\.4 s"):
        engine.answer(question())


def test_the_connection_of_a_stream_is_used_again_and_nobody_waits_for_a_server_that_keeps_it_open(
    maker: Maker,
) -> None:
    said = b'data: {"choices": [{"delta": {"content": "hi"}}]}\n\ndata: [DONE]\n\n'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

    def stream(exchange: Exchange) -> None:
        exchange.send(head + b"%x\r\n%b\r\n" % (len(said), said))
        exchange.send(b"0\r\n\r\n")

    def open_end(exchange: Exchange) -> None:
        exchange.send(head + b"%x\r\n%b\r\n" % (len(said), said))
        exchange.hold()

    with ScriptedServer(stream) as other:
        engine = maker.make("openai", other.url)
        assert [engine.answer(question()).text for _ in range(3)] == ["hi"] * 3
        assert other.connections_made == 1
        other.script = open_end
        started = time.monotonic()
        assert engine.answer(question()).text == "hi"
        assert time.monotonic() - started < 2


def test_a_stream_that_is_called_something_else_is_read_all_the_same(maker: Maker, server: EngineSimulator) -> None:
    body = ': hi\n\ndata: {"choices": [{"delta": {"content": "plain"}}]}\n\ndata: [DONE]\n\n'
    server.script(body=body, headers={"Content-Type": "text/plain"})
    assert maker.make("openai").answer(question()).text == "plain"


def test_a_server_that_does_not_stream_is_read_all_the_same(maker: Maker, server: EngineSimulator) -> None:
    maker.make(Kind("openai", False)).answer(question())
    whole = '{"choices": [{"message": {"content": [{"type": "text", "text": "all at once"}]}}]}'
    server.script(body=whole)
    assert maker.make(Kind("openai", True)).answer(question()).text == "all at once"
