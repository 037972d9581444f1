from __future__ import annotations

import pytest

from wechat_bridge.channels.ilink.quotes import parse_quote
from wechat_bridge.model.message import Quote

MARKS = {"start": "hel", "end": "lo", "startindex": 0, "endindex": 1, "quotemd5": "5D41402abc4b2a76b9719d911017c592"}


@pytest.mark.parametrize(
    ("ref_msg", "expected"),
    [
        # as sent up to March 2026: with the text
        ({"message_item": {"type": 1, "text_item": {"text": "the server is down"}}}, Quote(text="the server is down")),
        ({"title": "Ann: hi", "message_item": {"type": 1, "text_item": {"text": "hi"}}}, Quote(text="hi")),
        ({"title": "[图片]", "message_item": {"type": 2, "image_item": {}}}, Quote(text="[图片]")),
        ({"message_item": {"type": 3, "voice_item": {"text": "lights on"}}}, Quote(text="lights on")),
        # April 2026: type 8 without content
        ({"message_item": {"type": 8, "create_time_ms": 1790000000000}}, Quote()),
        # July 2026: type 0 with an id
        ({"message_item": {"type": 0, "msg_id": 7461203398120011001}}, Quote(message_id="7461203398120011001")),
        # September 2026: an id, and the marks of an excerpt
        ({"svr_id": 7461203398120011001}, Quote(message_id="7461203398120011001")),
        (
            {"svr_id": "7461203398120011001", "partial_text": MARKS},
            Quote(
                message_id="7461203398120011001",
                excerpt_start="hel",
                excerpt_end="lo",
                end_index=1,
                excerpt_md5="5d41402abc4b2a76b9719d911017c592",
            ),
        ),
    ],
)
def test_every_shape_seen_is_understood(ref_msg: object, expected: Quote) -> None:
    assert parse_quote(ref_msg) == expected


def test_a_quote_inside_a_quote_is_left_out() -> None:
    inner = {"message_item": {"type": 1, "text_item": {"text": "first"}}}
    quoted = {"type": 1, "text_item": {"text": "second"}, "ref_msg": inner}
    assert parse_quote({"message_item": quoted}) == Quote(text="second")
    assert parse_quote({"message_item": {"type": 1, "ref_msg": inner}}) == Quote()


@pytest.mark.parametrize("nothing", [None, "", "text", 7, [], [{}]])
def test_what_is_no_quote_is_none(nothing: object) -> None:
    assert parse_quote(nothing) is None


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"message_item": None, "title": None, "svr_id": None},
        {"message_item": "text", "title": 7, "svr_id": 0},
        {"message_item": {"type": 1, "text_item": {"text": " "}}, "title": "\n", "svr_id": 1.5},
    ],
)
def test_a_quote_with_nothing_usable_still_says_that_something_was_quoted(odd: object) -> None:
    assert parse_quote(odd) == Quote()


def test_marks_of_a_wrong_kind_are_left_out() -> None:
    marks: dict[str, object] = {"start": 1, "end": None, "startindex": "2", "endindex": -3, "quotemd5": []}
    assert parse_quote({"svr_id": 7, "partial_text": marks}) == Quote(message_id="7", start_index=2)
