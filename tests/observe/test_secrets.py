"""What counts as a secret in a text or by its name, and what does not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wechat_bridge.observe.secrets import MASK, is_secret, masked, masked_text


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer hunter2-hunter2",
        "authorization=Basic aHVudGVyMjpodW50ZXIy hunter",
        "https://qyapi.weixin.qq.com/cgi-bin/gettoken?corpid=ww1&corpsecret=hunter2",
        "POST /send?access_token=hunter2&debug=1",
        '{"bot_token": "hunter2", "ret": 0}',
        "{'context_token': 'hunter2'}",
        "password=hunter2",
        "EncodingAESKey = 'x' aes_key: hunter2",
        "mongodb://bridge:hunter2@mongo.example:27017/db",
        "redis://:hunter2@redis.example/0",
        "Incorrect API key provided: sk-hunter2hunter2hunter2",
        "api_key=hunter2, model=gpt",
        "GET /wecom/shop?msg_signature=5c45&timestamp=14&nonce=26&echostr=hunter2%3D%3D HTTP/1.1",
        f"GET /media/gAAAAABnhunter2{'x-_' * 30}== HTTP/1.1",
        f"https%3A%2F%2Fx%2Fmedia%2FgAAAAABnhunter2{'x-_' * 30}%3D%3D%3Ffilename",
    ],
)
def test_secrets_in_a_text_are_masked(text: str) -> None:
    assert "hunter2" in text or "aHVudGVyMj" in text
    assert "hunter2" not in masked_text(text)
    assert "aHVudGVyMj" not in masked_text(text)
    assert MASK in masked_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "turn wechat-reply:shop:7461203398120011000 was given up: the engine answered 500",
        "https://example.com/path?a=1&b=2",
        "token expired",
        "Basic authentication is required",
        "the keys of the session have changed",
        "你好，密码是什么意思？",
        "12 tokens in 3.4 s",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert masked_text(text) == text


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("bot_token", True), ("Authorization", True), ("X-Api_Key", True), ("encoding_aes_key", True),
        ("turn_id", False), ("key", False), ("share_id", False),
    ],
)  # fmt: skip
def test_names_tell_secrets(name: str, secret: bool) -> None:
    assert is_secret(name) is secret


def test_numbers_are_no_secrets() -> None:
    counts = {"prompt_tokens": 12, "completion_tokens": None, "token": "hunter2"}
    assert masked(counts) == counts | {"token": MASK}


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda part: st.lists(part) | st.dictionaries(st.text(), part))
)
def test_anything_can_be_masked_and_masking_again_changes_nothing(value: object) -> None:
    once = masked(value)
    assert masked(once) == once


@pytest.mark.parametrize("text", ["a" * 1_000_000, "token" * 200_000, "://" * 300_000, "bearer " * 100_000])
def test_a_long_text_is_masked_in_no_time(text: str) -> None:
    started = time.thread_time()
    masked_text(text)
    assert time.thread_time() - started < 2
