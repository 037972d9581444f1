"""The check of an answer by a URL: what it gets, and that only a well-formed answer is one."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from typing import Any

import pytest

from wechat_bridge.engines import outgoing_webhook
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.engines.outgoing_webhook import Action, Draft, OutgoingWebhook, Verdict
from wechat_bridge.errors import EngineUnavailable
from wechat_bridge.simulators.engine import EngineSimulator

SECRET = "the-secret-of-the-check"
DRAFT = Draft("wechat-reply:shop:42", "shop", "wechat_shop_ann", "ann", "一个回答 that nobody may log")


def check(engine_http: EngineHttp, server: EngineSimulator, query: str = "") -> Verdict:
    return OutgoingWebhook(engine_http).check(f"{server.base_url}/webhook{query}", SECRET, DRAFT)


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ('{"action": "pass"}', Verdict(Action.PASS)),
        ('{"action": "pass", "text": "ignored", "more": 1}', Verdict(Action.PASS)),
        ('{"action": "refuse"}', Verdict(Action.REFUSE)),
        ('{"action": "replace", "text": "另一个"}', Verdict(Action.REPLACE, "另一个")),
    ],
)
def test_it_lets_pass_replaces_or_refuses(
    engine_http: EngineHttp, server: EngineSimulator, body: str, verdict: Verdict
) -> None:
    server.script(body=body)
    assert check(engine_http, server) == verdict


def test_it_gets_the_answer_as_json_signed_like_a_turn(engine_http: EngineHttp, server: EngineSimulator) -> None:
    server.script(body='{"action": "pass"}')
    check(engine_http, server)
    call = server.calls[0]
    assert call.body == {
        "turn_id": "wechat-reply:shop:42", "share_id": "shop", "chat_id": "wechat_shop_ann", "user_id": "ann",
        "text": "一个回答 that nobody may log",
    }  # fmt: skip
    timestamp = call.headers["x-wechat-bridge-timestamp"]
    expected = hmac.new(SECRET.encode(), f"{timestamp}.".encode() + call.data, hashlib.sha256).hexdigest()
    assert call.headers["x-wechat-bridge-signature"] == f"sha256={expected}"
    assert abs(time.time() - int(timestamp)) < 10
    assert call.headers["idempotency-key"] == "wechat-reply:shop:42"


@pytest.mark.parametrize(
    "script",
    [
        {"status": 500}, {"status": 204, "body": ""}, {"status": 404}, {"status": 401}, {"status": 302},
        {"status": 201, "body": '{"action": "pass"}'}, {"body": "<html>pass</html>"}, {"body": ""}, {"body": "[]"},
        {"body": '"pass"'}, {"body": "{}"}, {"body": '{"action": "PASS"}'}, {"body": '{"action": ["pass"]}'},
        {"body": '{"action": null}'}, {"body": '{"action": "replace"}'}, {"body": '{"action": "replace", "text": " "}'},
        {"body": '{"action": "replace", "text": 1}'}, {"body": '{"action": "pass"', "cut_after_bytes": 9},
        {"body_base64": base64.b64encode(b'{"action": "replace", "text": "\xff"}').decode()},
        {"body": "[" * 100_000}, {"body": '{"action": "replace", "text": "%s"}' % ("x" * 600_000)},
        {"body": '{"action": "pass", "text": "%s"}' % ("x" * 17_000_000)},
    ],
    ids=lambda script: str(script)[:60],
)  # fmt: skip
def test_anything_else_is_a_failure_that_may_pass_and_repeats_neither_text_nor_secret(
    engine_http: EngineHttp, server: EngineSimulator, script: dict[str, Any]
) -> None:
    server.script(message=f"{DRAFT.text} {SECRET}", **script)
    with pytest.raises(EngineUnavailable, match="outgoing check of shop") as caught:
        check(engine_http, server, "?token=s3cret-in-url")
    for told in (DRAFT.text, SECRET, "s3cret-in-url"):
        assert told not in str(caught.value)


def test_it_has_ten_seconds_whatever_drips(
    engine_http: EngineHttp, server: EngineSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert outgoing_webhook.DEADLINE_SECONDS == 10
    monkeypatch.setattr(outgoing_webhook, "DEADLINE_SECONDS", 0.3)
    server.script(body='{"action": "pass"}', drip_seconds=0.05)
    started = time.monotonic()
    with pytest.raises(EngineUnavailable, match=r"within 0\.3 s"):
        check(engine_http, server)
    assert time.monotonic() - started < 3


def test_it_is_asked_again_no_sooner_than_it_says(engine_http: EngineHttp, server: EngineSimulator) -> None:
    server.script(status=503, headers={"Retry-After": "7"})
    with pytest.raises(EngineUnavailable) as caught:
        check(engine_http, server)
    assert caught.value.retry_after_seconds == 7


def test_nobody_listening_is_a_failure(engine_http: EngineHttp) -> None:
    with pytest.raises(EngineUnavailable, match="could not be reached"):
        OutgoingWebhook(engine_http).check("http://127.0.0.1:1/", SECRET, DRAFT)
