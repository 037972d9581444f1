"""What only the engine for FastGPT does: conversations by name, rounds by turn, errors inside 500 and 200."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.engines.asking import Kind, Maker, question
from tests.engines.sent_media import medium, needs_link
from wechat_bridge.errors import ConversationBusy, EngineRefused, EngineUnavailable
from wechat_bridge.simulators.engine import EngineSimulator

BOTH = pytest.mark.parametrize("kind", [Kind("fastgpt", True), Kind("fastgpt", False)], ids=str)


def test_conversation_turn_person_and_variables_go_along(maker: Maker, server: EngineSimulator) -> None:
    maker.make("fastgpt", variables={"shop": "小店"}, app_id="app1").answer(question("在吗"))
    body = server.calls[0].body
    assert body["chatId"] == "wechat_shop_ann"
    assert body["responseChatItemId"] == "wechat-reply:shop:42"
    assert body["customUid"] == "ann"
    assert (body["variables"], body["appId"]) == ({"shop": "小店"}, "app1")
    assert body["messages"] == [{"role": "user", "content": "在吗"}]


def test_pictures_and_documents_go_along_as_links_and_the_rest_stays_a_marker(
    maker: Maker, server: EngineSimulator
) -> None:
    media = (
        medium("image", "image/jpeg", link="http://127.0.0.1:1/1"),
        medium("file", "application/pdf", label="plan.pdf", link="http://127.0.0.1:1/2"),
        medium("file", "image/png", label="sent as a file.png", link="http://127.0.0.1:1/3"),
        medium("file", "application/zip", label="all.zip", link="http://127.0.0.1:1/4"),
        medium("voice", "audio/silk", link="http://127.0.0.1:1/5"),
        medium("video", "video/mp4", link="http://127.0.0.1:1/6"),
    )
    assert maker.make("fastgpt").answer(question("看[图片]", media=media)).text == "看[图片]"
    [message] = server.calls[0].body["messages"]
    assert message["content"] == [
        {"type": "text", "text": "看[图片]"},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/1"}},
        {"type": "file_url", "name": "plan.pdf", "url": "http://127.0.0.1:1/2"},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/3"}},
    ]
    assert [needs_link(maker.make("fastgpt"), each) for each in media] == [True] * 3 + [False] * 3


def test_without_links_only_the_text_goes(maker: Maker, server: EngineSimulator) -> None:
    maker.make("fastgpt").answer(question("看", media=(medium("image", "image/jpeg"),)))
    assert server.calls[0].body["messages"] == [{"role": "user", "content": "看"}]


def test_a_person_who_starts_anew_has_another_conversation(maker: Maker, server: EngineSimulator) -> None:
    engine = maker.make("fastgpt")
    for turn, memory in (("1", ""), ("2", "m1"), ("3", "m1")):
        engine.answer(question(turn_id=turn, memory_id=memory))
    first, second, third = (call.body["chatId"] for call in server.calls)
    assert first != second == third


def test_a_long_name_of_a_conversation_is_shortened_and_stays_its_own(maker: Maker, server: EngineSimulator) -> None:
    for chat in ("x" * 300, "x" * 299 + "y"):
        maker.make("fastgpt").answer(question(turn_id=chat, chat_id=chat))
    names = {call.body["chatId"] for call in server.calls}
    assert len(names) == 2
    assert all(len(name) < 250 for name in names)


@BOTH
def test_an_id_used_up_by_an_attempt_that_failed_does_not_stand_in_the_way(
    kind: Kind, maker: Maker, server: EngineSimulator
) -> None:
    engine = maker.make(kind)
    server.script(text="lost", cut_after_bytes=10)
    with pytest.raises(EngineUnavailable):
        engine.answer(question())
    assert engine.answer(question("在吗")).text == "在吗"
    first, again, third = (call.body["responseChatItemId"] for call in server.calls)
    assert first == again != third


def test_a_conversation_that_is_still_being_answered_is_left_alone_for_a_while(
    maker: Maker, server: EngineSimulator
) -> None:
    engine = maker.make("fastgpt")
    server.script(text="slow", delay_seconds=1)
    other = threading.Thread(target=engine.answer, args=(question(turn_id="other"),))
    other.start()
    deadline = threading.Event()
    while not server.calls:
        deadline.wait(0.01)
    with pytest.raises(ConversationBusy, match="409") as caught:
        engine.answer(question())
    other.join()
    assert caught.value.retry_after_seconds == 5


@BOTH
@pytest.mark.parametrize(("code", "error"), [(403, EngineRefused), (514000, EngineRefused), (500, EngineUnavailable)])
def test_the_code_in_the_body_counts_and_not_the_status(
    kind: Kind, maker: Maker, server: EngineSimulator, code: int, error: type[Exception]
) -> None:
    server.script(status=500, code=code, message="because")
    with pytest.raises(error, match="because"):
        maker.make(kind).answer(question())


@BOTH
@pytest.mark.parametrize("detail", [True, False])
def test_answers_with_details_are_read_and_thoughts_left_out(
    kind: Kind, maker: Maker, server: EngineSimulator, detail: bool
) -> None:
    server.script(text="四十二", reasoning="hm")
    assert maker.make(kind, detail=detail).answer(question()).text == "四十二"


@pytest.mark.parametrize(
    ("error", "kind"),
    [("no balance: insufficient balance", EngineRefused), ({"message": "timeout"}, EngineUnavailable), ("", None)],
)
def test_the_error_of_a_node_in_a_200_counts(
    maker: Maker, server: EngineSimulator, error: Any, kind: type[Exception] | None
) -> None:
    server.script(text="half done", fields={"error": error})
    engine = maker.make(Kind("fastgpt", False))
    if kind is None:
        assert engine.answer(question()).text == "half done"
        return
    with pytest.raises(kind):
        engine.answer(question())
