"""What only a webhook does: the turn as JSON, signed, and files in the answer."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from typing import Any

import pytest

from tests.engines.asking import KEY, Maker, question
from tests.engines.sent_media import medium, needs_link
from wechat_bridge.engines.base import AnswerFile, Attachment, Round
from wechat_bridge.engines.task import TaskEngine
from wechat_bridge.errors import EngineRefused
from wechat_bridge.model.engine import TaskEngineSettings
from wechat_bridge.model.message import ItemKind
from wechat_bridge.simulators.engine import EngineSimulator


def test_the_signature_is_that_of_time_and_body(maker: Maker, server: EngineSimulator) -> None:
    maker.make("webhook").answer(question())
    call = server.calls[0]
    timestamp = call.headers["x-wechat-bridge-timestamp"]
    expected = hmac.new(KEY.encode(), f"{timestamp}.".encode() + call.data, hashlib.sha256).hexdigest()
    assert call.headers["x-wechat-bridge-signature"] == f"sha256={expected}"
    assert abs(time.time() - int(timestamp)) < 10
    assert call.headers["idempotency-key"] == "wechat-reply:shop:42"
    assert KEY.encode() not in call.data


def test_the_turn_goes_out_as_json(maker: Maker, server: EngineSimulator) -> None:
    media = (
        Attachment(ItemKind.IMAGE, "image/png", 3, "", lambda: b"png"),
        medium("file", "text/plain", size=10**9, label="large.txt", link="https://bridge.example.com/media/x"),
    )
    maker.make("webhook").answer(question("看", media=media, history=(Round("q", "a"),)))
    assert server.calls[0].body == {
        "turn_id": "wechat-reply:shop:42",
        "share_id": "shop",
        "chat_id": "wechat_shop_ann",
        "user_id": "ann",
        "text": "看",
        "history": [{"question": "q", "answer": "a"}],
        "media": [
            {
                "kind": "image", "mime": "image/png", "size": 3, "label": "",
                "data": base64.b64encode(b"png").decode(), "url": None,
            },
            {
                "kind": "file", "mime": "text/plain", "size": 10**9, "label": "large.txt",
                "data": None, "url": "https://bridge.example.com/media/x",
            },
        ],
    }  # fmt: skip


def test_what_is_too_large_to_go_along_needs_a_link(maker: Maker) -> None:
    webhook = maker.make("webhook", most_media_bytes=100)
    described = TaskEngineSettings(kind="task", task="shop.answer", queue="shop", most_media_bytes=100)
    for engine in (webhook, TaskEngine("own", described, lambda *_: None)):
        assert [needs_link(engine, medium("file", "text/plain", size=size)) for size in (100, 101)] == [False, True]


def test_files_of_the_answer_are_sent_as_what_they_are(maker: Maker, server: EngineSimulator) -> None:
    data = base64.b64encode(b"bytes").decode()
    rows = [{"label": "a.png", "mime": "image/png", "data": data}, {"label": "b.pdf", "data": data}]
    server.script(null=True, fields={"files": rows})
    answer = maker.make("webhook").answer(question())
    assert answer.text == ""
    assert answer.files == (
        AnswerFile(ItemKind.IMAGE, "a.png", "image/png", b"bytes"),
        AnswerFile(ItemKind.FILE, "b.pdf", "application/octet-stream", b"bytes"),
    )


@pytest.mark.parametrize("script", [{"fields": {"skip": True}}, {"status": 204}], ids=str)
def test_a_webhook_may_say_nothing_on_purpose(maker: Maker, server: EngineSimulator, script: dict[str, Any]) -> None:
    server.script(**script)
    answer = maker.make("webhook").answer(question())
    assert (answer.text, answer.files, answer.finish_reason) == ("", (), "skip")


def test_markdown_is_a_text(maker: Maker, server: EngineSimulator) -> None:
    server.script(body='{"markdown": "**fat**"}')
    assert maker.make("webhook").answer(question()).text == "**fat**"


@pytest.mark.parametrize(
    "body",
    [
        '{"text": 1}', '{"files": {"a": 1}}', '{"files": ["x"]}',
        '{"files": [{"data": "@@"}]}', '{"files": [{"data": 1}]}',
    ],
)  # fmt: skip
def test_an_answer_of_the_wrong_shape_is_given_up_with_a_word_about_it(
    maker: Maker, server: EngineSimulator, body: str
) -> None:
    server.script(body=body)
    with pytest.raises(EngineRefused, match=r"should|no base64"):
        maker.make("webhook").answer(question())


def test_what_is_secret_in_its_address_is_in_no_error(maker: Maker, server: EngineSimulator) -> None:
    server.script(status=404, message="the token s3cret is unknown")
    with pytest.raises(EngineRefused, match="is unknown") as caught:
        maker.make("webhook", path="/webhook?token=s3cret").answer(question())
    assert "s3cret" not in str(caught.value)
