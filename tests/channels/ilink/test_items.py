from __future__ import annotations

from typing import Any

import pytest

from wechat_bridge.channels.ilink.items import parse_items
from wechat_bridge.model.message import Item, ItemKind, Quote

IMAGE = {
    "type": 2,
    "image_item": {
        "aeskey": "00112233445566778899aabbccddeeff",
        "media": {"encrypt_query_param": "aW1n", "aes_key": "ABEiM0RVZneImaq7zN3u/w=="},
        "mid_size": 20496,
    },
}


def text(words: object) -> dict[str, Any]:
    return {"type": 1, "text_item": {"text": words}}


def file(name: object) -> dict[str, Any]:
    return {"type": 4, "file_item": {"file_name": name, "len": "81234"}}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (text("hello"), Item(kind=ItemKind.TEXT, text="hello")),
        ({"type": "1", "text_item": {"text": "hi"}}, Item(kind=ItemKind.TEXT, text="hi")),
        ({"type": 3, "voice_item": {"text": "turn on the light"}}, Item(kind=ItemKind.VOICE, text="turn on the light")),
        ({"type": 3, "voice_item": {"playtime": 3460}}, Item(kind=ItemKind.VOICE)),
        ({"type": 3, "voice_item": {"text": " "}}, Item(kind=ItemKind.VOICE)),
        (IMAGE, Item(kind=ItemKind.IMAGE)),
        ({"type": 2, "image_item": None}, Item(kind=ItemKind.IMAGE)),
        (file("plan.pdf"), Item(kind=ItemKind.FILE, label="plan.pdf")),
        (file(None), Item(kind=ItemKind.FILE)),
        ({"type": 5, "video_item": {"play_length": 7}}, Item(kind=ItemKind.VIDEO)),
        ({"type": 3, "ref_msg": {"svr_id": 7}}, Item(kind=ItemKind.VOICE, quote=Quote(message_id="7"))),
    ],
)
def test_each_kind_is_kept_as_what_it_is(part: object, expected: Item) -> None:
    assert parse_items([part]) == ((expected,), "")


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\docs\\plan.pdf", "plan.pdf"),
        ("two\nlines\x00.txt", "two lines.txt"),
        ("年报.pdf", "年报.pdf"),
        ("x" * 300, "x" * 255),
    ],
)
def test_a_file_name_is_a_label_and_no_path(name: str, label: str) -> None:
    assert parse_items([file(name)])[0][0].label == label


def test_everything_beside_a_text_is_kept_in_order() -> None:
    items, reason = parse_items([IMAGE, text("what is this?"), None, {"type": 99}, text(""), file("a.txt")])
    assert [item.kind for item in items] == [ItemKind.IMAGE, ItemKind.TEXT, ItemKind.UNKNOWN, ItemKind.FILE]
    assert reason == ""


@pytest.mark.parametrize(
    ("item_list", "reason"),
    [
        (None, "no items"),
        ([], "no items"),
        ([None], "no items"),
        (["text", 7], "no items"),
        ({"type": 1}, "no items"),
        ("text", "no items"),
        ([{"type": 1}], "empty text"),
        ([text("")], "empty text"),
        ([text(" \n")], "empty text"),
        ([text("\x00")], "empty text"),
        ([text(7)], "empty text"),
        ([text(["x"])], "empty text"),
        ([{"type": 1, "text_item": "x"}], "empty text"),
        ([{"type": 99}], "unknown item type 99"),
        ([{"type": 0}], "unknown item type 0"),
        ([{}], "unknown item type"),
        ([{"type": [1]}], "unknown item type"),
        ([{"type": 11, "tool_call_start_item": {}}], "tool progress (item type 11)"),
        ([{"type": 12}], "tool progress (item type 12)"),
        ([{"type": 99}, {"type": 99}, {"type": 1}], "unknown item type 99; empty text"),
    ],
)
def test_nothing_to_answer_has_a_reason(item_list: object, reason: str) -> None:
    assert parse_items(item_list)[1] == reason


def test_unknown_types_are_kept_as_unknown() -> None:
    assert parse_items([{"type": 99}])[0] == (Item(kind=ItemKind.UNKNOWN),)


def test_a_thousand_unknown_types_do_not_make_a_long_reason() -> None:
    assert len(parse_items([{"type": number} for number in range(100, 1100)])[1]) < 200
