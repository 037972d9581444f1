"""What ``kf/sync_msg`` lists becomes inbox rows: customers are answered, nobody else is, and nothing is lost."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wechat_bridge.channels.wecom.kf_messages import entry_of
from wechat_bridge.model.message import InboxState, ItemKind
from wechat_bridge.model.wecom_kf import Entry

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MSGID = "7sYDsxEx4WRDxcaWNXGi8HDnMSbWJDzgwXrkVvMRE3p5"


def entry(seq: int = 1, **fields: Any) -> Entry:
    """An entry as a customer's message is listed, some of it changed."""
    common = {"msgid": MSGID, "open_kfid": "wk", "external_userid": "wm-ann", "send_time": 1_796_040_000, "origin": 3}
    return entry_of(common | {"msgtype": "text", "text": {"content": "hello"}} | fields, seq, NOW)


def test_a_customers_text_is_a_question() -> None:
    message = entry(seq=7).message
    assert (message.message_id, message.user_id, message.seq) == (MSGID, "wm-ann", 7)
    assert message.sent_at == datetime.fromtimestamp(1_796_040_000, UTC)
    assert (message.state, [item.text for item in message.items]) == (InboxState.PENDING, ["hello"])
    assert json.loads(message.raw)["text"] == {"content": "hello"}


@pytest.mark.parametrize(
    ("msgtype", "inside", "kind", "text"),
    [
        ("text", {"content": "menu", "menu_id": "1"}, ItemKind.TEXT, "menu"),
        ("image", {"media_id": "m"}, ItemKind.IMAGE, ""),
        ("voice", {"media_id": "m"}, ItemKind.VOICE, ""),
        ("video", {"media_id": "m"}, ItemKind.VIDEO, ""),
        ("file", {"media_id": "m"}, ItemKind.FILE, ""),
        (
            "location",
            {"latitude": 23.1, "longitude": 113.3, "name": "塔", "address": "路 1"},
            ItemKind.TEXT,
            "[位置] 塔 路 1（纬度 23.1，经度 113.3）",
        ),
        ("location", {"latitude": 23.1, "longitude": 113.3}, ItemKind.TEXT, "[位置] 纬度 23.1，经度 113.3"),
        ("link", {"title": "T", "desc": "D", "url": "http://u"}, ItemKind.TEXT, "[链接] T\nD\nhttp://u"),
        ("business_card", {"userid": "Li"}, ItemKind.TEXT, "[名片] Li"),
        ("miniprogram", {"title": "Shop", "appid": "wx"}, ItemKind.TEXT, "[小程序] Shop"),
    ],
)
def test_every_type_is_read(msgtype: str, inside: dict[str, Any], kind: ItemKind, text: str) -> None:
    fields: dict[str, Any] = {"msgtype": msgtype, msgtype: inside}
    message = entry(**fields).message
    assert message.state is InboxState.PENDING
    assert [(item.kind, item.text) for item in message.items] == [(kind, text)]


@pytest.mark.parametrize(
    ("fields", "state", "reason"),
    [
        ({"msgtype": "brand_new"}, "failed", "unknown message type 'brand_new'"),
        ({"text": {"content": " "}}, "failed", "empty text"),
        ({"text": None}, "failed", "empty text"),
        ({"external_userid": ""}, "failed", "no external_userid"),
        ({"origin": 5, "servicer_userid": "agent"}, "skipped", "a human agent wrote it"),
        ({"origin": 9}, "skipped", "of unknown origin '9'"),
        ({"origin": "3"}, "skipped", "of unknown origin '3'"),
        ({"origin": 4, "msgtype": "event", "event": {"event_type": "x"}}, "skipped", "event: x"),
        ({"msgtype": "event", "event": {}}, "skipped", "event: unnamed"),
        ({"origin": 4}, "skipped", "event: unnamed"),
    ],
)
def test_what_is_no_question_says_why(fields: dict[str, Any], state: str, reason: str) -> None:
    message = entry(**fields).message
    assert (message.state.value, message.reason) == (state, reason)


def test_an_event_is_about_the_customer_whose_id_stands_inside_it() -> None:
    inside = {"event_type": "enter_session", "external_userid": "wm-bob", "welcome_code": "c"}
    found = entry(external_userid=None, origin=4, msgtype="event", event=inside)
    assert (found.event, found.message.user_id, found.text("welcome_code")) == ("enter_session", "wm-bob", "c")


@pytest.mark.parametrize("msgid", [None, "", "x" * 300, "a\nb", "消息"])
def test_an_entry_without_a_usable_msgid_has_the_same_key_each_time_it_is_listed(msgid: Any) -> None:
    first, again, other = entry(msgid=msgid), entry(msgid=msgid, seq=2), entry(msgid=msgid, text={"content": "b"})
    assert first.message.message_id == again.message.message_id != other.message.message_id
    assert len(first.message.message_id) < 64


@pytest.mark.parametrize("send_time", [None, 0, "now", True, -5, 10**15, 1.5])
def test_a_time_that_cannot_be_is_none(send_time: Any) -> None:
    assert entry(send_time=send_time).message.sent_at is None


def test_halves_of_characters_are_kept_as_what_can_be_stored() -> None:
    found = entry(text={"content": "a\ud83d"}, external_userid="wm\udc00")
    for text in (found.message.raw, found.message.user_id, found.message.items[0].text):
        assert text.encode()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(("msgid", "external_userid", "send_time", "origin", "msgtype", "text", "event", "location"))


@settings(max_examples=150, deadline=None)
@given(VALUES | st.dictionaries(NAMES, VALUES | st.sampled_from((3, 4, 5, "text", "event", "location"))))
def test_whatever_is_listed_can_be_stored_and_explained(listed: Any) -> None:
    message = entry_of(listed, 1, NOW).message
    assert message.model_dump_json().encode()
    assert 1 <= len(message.message_id) <= 256
    assert 1 <= len(message.user_id) <= 256
    assert message.state is InboxState.PENDING or message.reason
