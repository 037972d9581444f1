"""Every type and event of facts 2b and 2c: what becomes of it, and under which key."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from wechat_bridge.channels.wecom.messages import Callback, message_id_of, read_callback
from wechat_bridge.model.message import InboundMessage, InboxState, ItemKind
from wechat_bridge.model.wecom import WecomSettings

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PLAIN = WecomSettings(corp_id="ww1", agent_id=218)
BASE = {"ToUserName": "ww1", "FromUserName": "ann", "CreateTime": str(int(NOW.timestamp())), "AgentID": "218"}
MESSAGE = BASE | {"MsgType": "text", "Content": "hello", "MsgId": "7459035031717794886"}


def read(fields: dict[str, Any], settings: WecomSettings = PLAIN) -> InboundMessage:
    return read_callback(fields, settings, NOW).message


def event(name: str, **fields: Any) -> dict[str, Any]:
    return BASE | {"MsgType": "event", "Event": name, "EventKey": ""} | fields


def test_a_text_is_pending_with_everything_the_inbox_wants_to_know() -> None:
    message = read(MESSAGE)
    assert (message.state, message.reason, message.user_id) == (InboxState.PENDING, "", "ann")
    assert message.message_id == "ann:7459035031717794886"
    assert message.seq == 7459035031717794886
    assert message.sent_at == NOW
    assert json.loads(message.raw) == MESSAGE
    assert [(item.kind, item.text) for item in message.items] == [(ItemKind.TEXT, "hello")]


@pytest.mark.parametrize(
    ("fields", "kind", "text", "label"),
    [
        ({"MsgType": "text", "Content": "  two\n lines  "}, ItemKind.TEXT, "  two\n lines  ", ""),
        ({"MsgType": "image", "PicUrl": "http://p/1", "MediaId": "m"}, ItemKind.IMAGE, "", ""),
        ({"MsgType": "voice", "MediaId": "m", "Format": "amr"}, ItemKind.VOICE, "", ""),
        ({"MsgType": "voice", "MediaId": "m", "Recognition": "你好"}, ItemKind.VOICE, "你好", ""),
        ({"MsgType": "video", "MediaId": "m", "ThumbMediaId": "t"}, ItemKind.VIDEO, "", ""),
        ({"MsgType": "file", "MediaId": "m", "FileName": "a/../报告.pdf"}, ItemKind.FILE, "", "报告.pdf"),
        ({"MsgType": "file", "MediaId": "m", "Filename": "b.txt"}, ItemKind.FILE, "", "b.txt"),
        (
            {"MsgType": "location", "Location_X": "23.13", "Location_Y": "113.36", "Scale": "20", "Label": "广州塔"},
            ItemKind.TEXT,
            "[位置] 广州塔（纬度 23.13，经度 113.36）",
            "",
        ),
        (
            {"MsgType": "location", "Location_X": "23.13", "Location_Y": "113.36"},
            ItemKind.TEXT,
            "[位置] 纬度 23.13，经度 113.36",
            "",
        ),
        (
            {"MsgType": "link", "Title": "新闻", "Description": "要点", "Url": "https://e.cn/1", "PicUrl": "x"},
            ItemKind.TEXT,
            "[链接] 新闻\n要点\nhttps://e.cn/1",
            "",
        ),
    ],
)
def test_every_documented_type_becomes_an_item_to_be_answered(
    fields: dict[str, Any], kind: ItemKind, text: str, label: str
) -> None:
    message = read(BASE | {"MsgId": "1"} | fields)
    assert message.state is InboxState.PENDING
    assert [(item.kind, item.text, item.label) for item in message.items] == [(kind, text, label)]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"MsgType": "text", "Content": " \n"}, "empty text"),
        ({"MsgType": "text"}, "empty text"),
        ({"MsgType": "text", "Content": ["a", "b"]}, "empty text"),
        ({"MsgType": "hologram"}, "unknown message type 'hologram'"),
        ({}, "unknown message type ''"),
    ],
)
def test_what_nobody_can_answer_is_kept_with_the_reason(fields: dict[str, Any], reason: str) -> None:
    message = read(BASE | {"MsgId": "1"} | fields)
    assert (message.state, message.reason) == (InboxState.FAILED, reason)


@pytest.mark.parametrize("sender", ["", "  ", "a|b", "@all", "@ALL", "sys", "x" * 200, ["ann", "bob"]])
def test_a_message_of_nobody_or_of_many_is_kept_and_not_answered(sender: Any) -> None:
    message = read(MESSAGE | {"FromUserName": sender})
    assert (message.state, message.reason, message.user_id) == (InboxState.FAILED, "no usable FromUserName", "sys")


@pytest.mark.parametrize("created", ["", "soon", "0", "99999999999999999999", "1.5", "-3"])
def test_a_time_that_cannot_be_true_is_none(created: str) -> None:
    assert read(MESSAGE | {"CreateTime": created}).sent_at is None


def test_a_time_slightly_ahead_is_believed() -> None:
    ahead = NOW + timedelta(hours=1)
    assert read(MESSAGE | {"CreateTime": str(int(ahead.timestamp()))}).sent_at == ahead


# events

EVENTS = [
    event("subscribe"),
    event("unsubscribe"),
    event("enter_agent"),
    event("LOCATION", Latitude="1", Longitude="2", Precision="3"),
    event("click", EventKey="HOURS"),
    event("view", EventKey="https://example.com/"),
    event("scancode_push", ScanCodeInfo={"ScanType": "qrcode", "ScanResult": "1"}),
    event("scancode_waitmsg", ScanCodeInfo={"ScanType": "qrcode", "ScanResult": "1"}),
    event("pic_sysphoto", SendPicsInfo={"Count": "1", "PicList": {"item": {"PicMd5Sum": "1"}}}),
    event("pic_photo_or_album"),
    event("pic_weixin"),
    event("location_select", SendLocationInfo={"Label": "x"}),
    event("batch_job_result", BatchJob={"JobId": "1"}, FromUserName="sys"),
    event("open_approval_change", ApprovalInfo={"ThirdNo": "1"}, FromUserName="sys"),
    event("taskcard_click", TaskId="1"),
    event("template_card_event", TaskId="1", ResponseCode="r"),
    event("template_card_menu_event", TaskId="1"),
    {"ToUserName": "ww1", "CreateTime": "1", "MsgType": "event", "Event": "kf_msg_or_event", "Token": "t",
     "OpenKfId": "k"},
    event("change_contact", ChangeType="create_user", FromUserName="sys"),
    event("change_app_admin"),
    event("no_such_event_yet"),
    event(""),
]  # fmt: skip


@pytest.mark.parametrize("fields", EVENTS, ids=lambda fields: fields["Event"] or "unnamed")
def test_an_event_is_kept_and_asks_nobody_anything(fields: dict[str, Any]) -> None:
    callback = read_callback(fields, PLAIN, NOW)
    assert callback.message.state is InboxState.SKIPPED
    assert callback.message.reason == f"event: {fields['Event'] or 'unnamed'}"
    assert callback.message.items == ()
    assert callback.welcome_text == ""
    assert json.loads(callback.message.raw) == fields


def test_the_keys_of_all_these_events_differ() -> None:
    assert len({message_id_of(fields) for fields in EVENTS}) == len(EVENTS)


def test_a_welcome_goes_to_who_subscribes_and_to_no_other_event_unless_it_is_set() -> None:
    welcoming = PLAIN.model_copy(update={"welcome_text": "欢迎"})
    assert welcomed(welcoming) == {"subscribe"}
    both = welcoming.model_copy(update={"welcome_events": frozenset({"subscribe", "enter_agent"})})
    assert welcomed(both) == {"subscribe", "enter_agent"}


def welcomed(settings: WecomSettings) -> set[str]:
    callbacks: list[tuple[str, Callback]] = [
        (fields["Event"], read_callback(fields, settings, NOW)) for fields in EVENTS
    ]
    assert all(callback.message.state is InboxState.SKIPPED for _, callback in callbacks)
    return {name for name, callback in callbacks if callback.welcome_text == "欢迎"}


def test_nobody_is_welcomed_in_the_name_of_the_system() -> None:
    welcoming = PLAIN.model_copy(update={"welcome_text": "欢迎"})
    assert read_callback(event("subscribe", FromUserName="sys"), welcoming, NOW).welcome_text == ""


@pytest.mark.parametrize(
    ("clicks", "question"),
    [(True, "HOURS"), ({"HOURS": "几点开门？"}, "几点开门？"), ({"OTHER": "x"}, None), (False, None), ({}, None)],
)
@pytest.mark.parametrize("name", ["click", "CLICK"])
def test_a_menu_click_is_a_question_where_the_channel_says_so(clicks: Any, question: str | None, name: str) -> None:
    message = read(event(name, EventKey="HOURS"), PLAIN.model_copy(update={"clicks": clicks}))
    assert [item.text for item in message.items] == ([question] if question else [])
    assert message.state is (InboxState.PENDING if question else InboxState.SKIPPED)


def test_no_other_event_is_a_question_even_if_clicks_are() -> None:
    asking = PLAIN.model_copy(update={"clicks": True})
    states = {fields["Event"]: read(fields, asking).state for fields in EVENTS}
    assert [name for name, state in states.items() if state is InboxState.PENDING] == ["click"]


# keys


def test_one_msgid_of_two_people_is_two_messages() -> None:
    ann, bob = (message_id_of(MESSAGE | {"MsgId": "5001", "FromUserName": who}) for who in ("ann", "bob"))
    assert (ann, bob) == ("ann:5001", "bob:5001")


def test_two_msgids_beyond_2_to_the_53_are_two_messages() -> None:
    keys = {message_id_of(MESSAGE | {"MsgId": number}) for number in ("9007199254740992", "9007199254740993")}
    assert len(keys) == 2


def test_two_clicks_of_one_second_are_two_events() -> None:
    keys = [message_id_of(event("click", EventKey=key)) for key in ("HOURS", "PRICES")]
    cards = [message_id_of(event("template_card_event", EventKey="b", ResponseCode=code)) for code in ("r1", "r2")]
    assert len({*keys, *cards}) == 4
    assert keys[0] == f"ev:ann:{int(NOW.timestamp())}:click:HOURS:"


def test_no_part_of_a_key_can_pass_for_two() -> None:
    first = event("click", EventKey="a:b")
    second = event("click", EventKey="a", TaskId="b")
    assert message_id_of(first) != message_id_of(second)


def test_two_changes_that_the_system_tells_of_in_one_second_are_two_events() -> None:
    changes = [event("change_contact", FromUserName="sys", UserID=user) for user in ("ann", "bob")]
    assert len({message_id_of(change) for change in changes}) == 2


@pytest.mark.parametrize("number", ["", "0x1", "abc", None, ["1", "2"]])
def test_a_message_without_an_id_has_a_fingerprint_that_repeats_share(number: Any) -> None:
    message = MESSAGE | {"MsgId": number}
    assert message_id_of(message).startswith("fp-")
    assert message_id_of(message) == message_id_of(dict(message))
    assert message_id_of(message) != message_id_of(message | {"Content": "hello!"})


def test_a_key_stays_short_however_long_the_address_of_a_view_is() -> None:
    keys = {message_id_of(event("view", EventKey=f"https://e.cn/{'x' * 5_000}{n}")) for n in range(2)}
    assert len(keys) == 2
    assert all(len(key) < 64 for key in keys)


VALUES = st.recursive(
    st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from([*MESSAGE, "Event", "EventKey", "TaskId", "Label", "Url"])


@hypothesis_settings(max_examples=300, deadline=2_000)
@given(st.dictionaries(NAMES, VALUES, max_size=8), st.sampled_from(["text", "event", "location", "link", "file", "?"]))
def test_any_fields_become_a_message_that_can_be_stored(fields: dict[str, Any], kind: str) -> None:
    settings = PLAIN.model_copy(update={"clicks": True, "welcome_text": "x"})
    message = read_callback(fields | {"MsgType": kind}, settings, NOW).message
    assert 0 < len(message.message_id) <= 256
    assert (message.state is InboxState.PENDING) == (message.reason == "")
    assert json.loads(message.raw) == fields | {"MsgType": kind}
