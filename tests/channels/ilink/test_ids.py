from __future__ import annotations

from typing import Any

import pytest

from wechat_bridge.channels.ilink.ids import as_id, fingerprint, id_of
from wechat_bridge.channels.ilink.lenient import JsonText

MESSAGE: dict[str, Any] = {
    "from_user_id": "u@im.wechat",
    "client_id": "wx-26",
    "create_time_ms": 1790000026000,
    "context_token": "ctx-1",
    "item_list": [{"type": 1, "text_item": {"text": "ok"}}],
}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (7001, "7001"),
        ("7001", "7001"),
        (9007199254740993, "9007199254740993"),
        (2**64 - 1, "18446744073709551615"),
        ("msg_7f-1", "msg_7f-1"),
        (0, None),
        ("0", None),
        ("", None),
        (" ", None),
        (-1, None),
        (2**64, None),
        (None, None),
        (True, None),
        (1.5, None),
        (JsonText("7001.0"), None),
        ([7001], None),
        ({"id": 1}, None),
        ("a\nb", None),
        ("\ud83d", None),
        ("x" * 129, None),
    ],
)
def test_an_id_is_text_and_never_rounded(value: object, expected: str | None) -> None:
    assert as_id(value) == expected


@pytest.mark.parametrize("missing", [None, 0, "", "0", 1.5, True, []])
def test_a_message_without_an_id_has_the_same_one_each_time(missing: object) -> None:
    repeat = {**MESSAGE, "message_id": missing, "context_token": "another"}
    assert id_of(repeat) == id_of(MESSAGE)
    assert id_of(repeat).startswith("fp-")


@pytest.mark.parametrize(
    "change",
    [
        {"create_time_ms": 1790000027000},
        {"from_user_id": "v@im.wechat"},
        {"client_id": "wx-27"},
        {"item_list": [{"type": 1, "text_item": {"text": "OK"}}]},
    ],
)
def test_another_message_without_an_id_has_another_one(change: dict[str, Any]) -> None:
    assert id_of({**MESSAGE, **change}) != id_of(MESSAGE)


def test_the_id_of_an_item_stands_in_for_the_message_id() -> None:
    items = [None, {"type": 1}, {"type": 1, "msg_id": 7002}, {"type": 2, "msg_id": "7003"}]
    assert id_of({**MESSAGE, "item_list": items}) == "7002"
    assert id_of({**MESSAGE, "item_list": items, "message_id": "7001"}) == "7001"


def test_messages_that_say_nothing_of_themselves_are_told_apart_by_their_json() -> None:
    odd: list[object] = [{"foo": 1}, {"foo": 2}, {}, [], None, "text", 7, JsonText("1.0"), "\ud83d"]
    assert len({fingerprint(message) for message in odd}) == len(odd)
