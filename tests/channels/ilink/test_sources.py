"""Where media are and how they are opened, from messages as they come: examples, and everything that can be wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wechat_bridge.channels.ilink.crypto import Claims
from wechat_bridge.channels.ilink.items import parse_items
from wechat_bridge.channels.ilink.lenient import compact
from wechat_bridge.channels.ilink.parse import parse_message
from wechat_bridge.channels.ilink.sources import Source, source_of
from wechat_bridge.errors import MediaUnreadable
from wechat_bridge.model.media import Problem
from wechat_bridge.model.message import ItemKind

CDN = "https://novac2c.cdn.weixin.qq.com/c2c"
KEY = bytes.fromhex("00112233445566778899aabbccddeeff")
HEX_KEY = "MDAxMTIyMzM0NDU1NjY3Nzg4OTlhYWJiY2NkZGVlZmY="
IMAGE = json.loads("""{"type":2,"image_item":{"aeskey":"00112233445566778899aabbccddeeff","media":{
  "encrypt_query_param":"aW1n","aes_key":"ABEiM0RVZneImaq7zN3u/w==",
  "full_url":"https://novac2c.cdn.weixin.qq.com/c2c/download?encrypted_query_param=aW1n"},
  "mid_size":20496,"thumb_width":120,"thumb_height":90}}""")
FILE = json.loads("""{"type":4,"file_item":{"file_name":"plan.pdf","len":"81234",
  "md5":"9e107d9d372bb6826bd81d3542a419d6","media":{"encrypt_query_param":"ZmlsZQ==",
  "aes_key":"MDAxMTIyMzM0NDU1NjY3Nzg4OTlhYWJiY2NkZGVlZmY=","encrypt_type":1}}}""")
VOICE = json.loads("""{"type":3,"voice_item":{"media":{"encrypt_query_param":"ZHdu",
  "aes_key":"MDAxMTIyMzM0NDU1NjY3Nzg4OTlhYWJiY2NkZGVlZmY=","encrypt_type":1},"encode_type":4,"bits_per_sample":16,
  "sample_rate":16000,"playtime":2380}}""")
VIDEO = {"type": 5, "video_item": {"media": {"encrypt_query_param": "dmlk+/=", "aes_key": HEX_KEY}, "video_size": 7}}


def source(item: dict[str, Any], *before: dict[str, Any]) -> Source:
    raw = parse_message({"message_id": 1, "from_user_id": "ann", "item_list": [*before, item]}).raw
    return source_of(raw, len(before), CDN)


def found_or_problem(raw: str, position: int) -> Any:
    try:
        return source_of(raw, position, CDN)
    except MediaUnreadable as error:
        return error.problem


def problem(raw: str, position: int = 0) -> str:
    with pytest.raises(MediaUnreadable) as caught:
        source_of(raw, position, CDN)
    return caught.value.problem


def test_the_examples_of_the_protocol_are_read() -> None:
    image, file = source(IMAGE), source(FILE, IMAGE)
    assert (image.kind, image.url, image.keys) == (ItemKind.IMAGE, IMAGE["image_item"]["media"]["full_url"], (KEY,))
    assert (file.kind, file.url) == (ItemKind.FILE, f"{CDN}/download?encrypted_query_param=ZmlsZQ%3D%3D")
    assert (file.keys, file.claims) == ((KEY,), Claims(81234, "9e107d9d372bb6826bd81d3542a419d6"))
    voice = source(VOICE)
    assert (voice.kind, voice.url, voice.keys) == (ItemKind.VOICE, f"{CDN}/download?encrypted_query_param=ZHdu", (KEY,))
    assert source(VIDEO).url == f"{CDN}/download?encrypted_query_param=dmlk%2B%2F%3D"


def test_the_key_beside_a_picture_goes_before_the_one_inside() -> None:
    other = {**IMAGE["image_item"], "aeskey": "ff" * 16}
    assert source({"type": 2, "image_item": other}).keys == (b"\xff" * 16, KEY)
    broken = {**IMAGE["image_item"], "aeskey": "no key"}
    assert source({"type": 2, "image_item": broken}).keys == (KEY,)


def test_texts_without_words_before_it_do_not_shift_a_picture() -> None:
    empty, text = {"type": 1, "text_item": {"text": ""}}, {"type": 1, "text_item": {"text": "look"}}
    items, _ = parse_items([empty, None, text, IMAGE])
    assert [item.kind for item in items] == [ItemKind.TEXT, ItemKind.IMAGE]
    assert source_of(compact({"item_list": [empty, None, text, IMAGE]}), 1, CDN).keys == (KEY,)


@pytest.mark.parametrize("raw", ["", "{}", "[]", "null", "{", '{"item_list":[]}', '{"item_list":7}', "[" * 100_000])
def test_a_message_that_is_kept_no_more_says_so(raw: str) -> None:
    assert problem(raw) == Problem.EXPIRED


NONSENSE = [None, "", 0, 7, -1, True, [], {}, "x", ["x"], {"x": "y"}, 2**70, "\x00", "\ud83d"]


@pytest.mark.parametrize("value", NONSENSE)
@pytest.mark.parametrize("name", ["image_item", "media", "aeskey", "aes_key", "encrypt_query_param", "full_url"])
def test_every_part_may_be_missing_or_anything(name: str, value: object) -> None:
    media: dict[str, Any] = {"encrypt_query_param": "x", "aes_key": HEX_KEY}
    detail: dict[str, Any] = {"aeskey": KEY.hex(), "media": media}
    part: dict[str, Any] = {"type": 2, "image_item": detail}
    holder = part if name == "image_item" else detail if name in ("media", "aeskey") else media
    holder[name] = value
    raw = parse_message({"message_id": 1, "from_user_id": "ann", "item_list": [part]}).raw
    found = found_or_problem(raw, 0)
    assert found == Problem.NO_ADDRESS or (found.url and all(len(key) == 16 for key in found.keys))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)
                    | st.dictionaries(st.sampled_from(["type", "media", "image_item", "file_item", "full_url", "len"]),
                                      inner, max_size=4), max_leaves=12))  # fmt: skip
def test_no_item_at_all_is_more_than_unreadable(item: Any) -> None:
    message = parse_message({"message_id": 1, "from_user_id": "ann", "item_list": [item]})
    for position in range(len(message.items) + 1):
        found = found_or_problem(message.raw, position)
        assert found in (Problem.NO_ADDRESS, Problem.EXPIRED) or found.url


def test_what_is_said_of_size_and_checksum_counts_for_documents_only() -> None:
    film = {"type": 5, "video_item": {**VIDEO["video_item"], "video_md5": "0" * 32, "len": "3"}}  # type: ignore[dict-item]
    assert source(film).claims == Claims()
    huge = {"type": 4, "file_item": {**FILE["file_item"], "len": "9" * 40, "md5": 7}}
    assert source(huge).claims == Claims(None, "")


def test_a_source_shows_neither_address_nor_key() -> None:
    shown = repr(source(IMAGE))
    assert "aW1n" not in shown
    assert repr(KEY) not in shown
