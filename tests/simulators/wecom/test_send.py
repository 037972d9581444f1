"""message/send: what is accepted, what is refused, and what people see of it."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from wechat_bridge.simulators.wecom import WecomControl

from .conftest import USER, Api


def texts(control: WecomControl, user: str = USER) -> list[str]:
    return [shown["text"] for shown in control.deliveries(user)]


def test_a_text_is_seen_by_whom_it_names(control: WecomControl, api: Api) -> None:
    answer = api.send("你好😀", "ZhangSan|LiSi")
    assert (answer["errcode"], answer["invaliduser"]) == (0, "")
    assert texts(control, "ZhangSan") == texts(control, "lisi") == ["你好😀"]
    assert control.deliveries("ZhangSan")[0]["msgid"] == answer["msgid"]


def test_a_text_is_cut_at_2048_bytes_without_a_word_and_no_character_is_torn(control: WecomControl, api: Api) -> None:
    assert api.send("好" * 683)["errcode"] == 0
    assert texts(control) == ["好" * 682]


def test_a_text_of_2048_bytes_is_whole_and_a_longer_one_can_be_refused(control: WecomControl, api: Api) -> None:
    control.set_options(over_long_text="refuse")
    assert api.send("a" * 2_048)["errcode"] == 0
    assert api.send("a" * 2_049)["errcode"] == 45002
    assert texts(control) == ["a" * 2_048]


def test_more_than_30_a_minute_are_accepted_and_seen_by_nobody(control: WecomControl, api: Api) -> None:
    token = api.token()
    assert {api.send(str(number), token=token)["errcode"] for number in range(32)} == {0}
    assert api.send("to another", "LiSi", token)["errcode"] == 0
    assert texts(control) == [str(number) for number in range(30)]
    assert texts(control, "LiSi") == ["to another"]
    assert control.stats()["outcomes"] == {"shown": 31, "discarded: more than 30 in a minute": 2}
    control.advance_clock(61)
    api.send("again", token=token)
    assert texts(control)[-1] == "again"


def test_who_goes_on_while_the_minute_is_full_is_blocked_for_a_whole_minute(control: WecomControl, api: Api) -> None:
    control.set_options(user_per_minute=1)
    for text in ("shown", "too many", "still blocked", "shown again"):
        api.send(text)
        control.advance_clock(40)
    assert texts(control) == ["shown", "shown again"]


def test_the_hour_has_a_limit_of_its_own(control: WecomControl, api: Api) -> None:
    control.set_options(user_per_hour=2)
    for number in range(3):
        api.send(str(number))
        control.advance_clock(61)
    assert texts(control) == ["0", "1"]


def test_who_is_outside_the_visible_range_is_a_partial_failure_and_nobody_inside_a_whole_one(
    control: WecomControl, api: Api
) -> None:
    control.set_app(api.key, visible_users=["ZhangSan"])
    partial = api.send("hi", "ZhangSan|LiSi")
    assert (partial["errcode"], partial["invaliduser"]) == (0, "lisi")
    assert api.send("hi", "LiSi")["errcode"] == 81013
    assert texts(control, "LiSi") == []
    assert api.send("to all", "@all")["errcode"] == 0
    assert texts(control) == ["hi", "to all"]


def test_the_duplicate_check_suppresses_the_same_bytes_for_its_interval(control: WecomControl, api: Api) -> None:
    first = api.send("hi", enable_duplicate_check=1, duplicate_check_interval=60)
    second = api.send("hi", enable_duplicate_check=1, duplicate_check_interval=60)
    assert (second["errcode"], second["msgid"]) == (0, first["msgid"])
    api.send("other", enable_duplicate_check=1, duplicate_check_interval=60)
    assert texts(control) == ["hi", "other"]
    control.advance_clock(61)
    api.send("hi", enable_duplicate_check=1, duplicate_check_interval=60)
    assert texts(control) == ["hi", "other", "hi"]


def test_without_the_check_equal_messages_are_all_seen(control: WecomControl, api: Api) -> None:
    api.send("hi")
    api.send("hi")
    assert texts(control) == ["hi", "hi"]


def test_agents_are_told_apart(control: WecomControl, api: Api) -> None:
    sibling = control.create_app(corp_id=api.app["corp_id"])
    assert api.send("hi", agentid=int(sibling["agent_id"]))["errcode"] == 301002
    assert api.send("hi", agentid=1)["errcode"] == 40056


MEDIA = {"media_id": "unknown"}
CARD = {"card_type": "text_notice", "main_title": {"title": "t"}}


@pytest.mark.parametrize(
    ("changed", "errcode"),
    [
        ({"msgtype": "hologram"}, 40008),
        ({"text": {"content": ""}}, 44004),
        ({"touser": ""}, 82001),
        ({"touser": "|".join(f"u{number}" for number in range(1_001))}, 40035),
        ({"msgtype": "image", "image": MEDIA}, 40007),
        ({"msgtype": "textcard", "textcard": {"title": "t", "url": "https://example.com"}}, 41033),
        ({"msgtype": "news", "news": {"articles": [{"title": "t"}] * 9}}, 45008),
        ({"msgtype": "template_card", "template_card": CARD}, 42045),
    ],
)
def test_a_wrong_message_is_refused_with_its_code_and_seen_by_nobody(
    control: WecomControl, api: Api, changed: dict[str, Any], errcode: int
) -> None:
    assert api.post("message/send", {**api.text("hi"), **changed})["errcode"] == errcode
    assert control.deliveries() == []


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"msgtype": "markdown", "markdown": {"content": "**hi**"}}, "**hi**"),
        ({"msgtype": "textcard", "textcard": {"title": "t", "description": "d", "url": "https://example.com"}}, "t\nd"),
        ({"msgtype": "news", "news": {"articles": [{"title": "a"}, {"title": "b"}]}}, "a\nb"),
        ({"msgtype": "template_card", "template_card": {**CARD, "card_action": {"type": 1}}}, "t"),
    ],
)
def test_other_types_are_seen_with_their_text(
    control: WecomControl, api: Api, message: dict[str, Any], text: str
) -> None:
    assert api.post("message/send", {**api.text("hi"), **message})["errcode"] == 0
    assert texts(control) == [text]


@pytest.mark.parametrize(
    ("data", "errcode"),
    [(b"{", 47001), (b"[]", 47001), (b'{"text": "\\u4f60"}', 40033), (b'{"text": "\\u0008 \\\\u4f60"}', 40056)],
)
def test_a_body_must_be_json_without_needless_escapes(api: Api, data: bytes, errcode: int) -> None:
    url = f"{api.base_url}/message/send"
    answer = requests.post(url, params={"access_token": api.token()}, data=data, timeout=10)
    assert api.read(answer)["errcode"] == errcode


def test_a_recalled_message_is_no_longer_seen_and_only_its_app_can_recall_it(control: WecomControl, api: Api) -> None:
    sibling = Api(control.create_app(corp_id=api.app["corp_id"]))
    msgid = api.send("oops")["msgid"]
    assert sibling.post("message/recall", {"msgid": msgid})["errcode"] == 40058
    assert api.post("message/recall", {"msgid": msgid})["errcode"] == 0
    assert texts(control) == []
    late = api.send("too late")["msgid"]
    control.advance_clock(86_401)
    assert api.post("message/recall", {"msgid": late})["errcode"] == 42052
    assert texts(control) == ["too late"]


def test_an_interactive_card_can_be_updated_once_with_its_response_code(api: Api) -> None:
    card = {"card_type": "button_interaction", "main_title": {"title": "ok?"}}
    sent = api.post("message/send", {**api.text("hi"), "msgtype": "template_card", "template_card": card})
    update = {"agentid": int(api.app["agent_id"]), "response_code": sent["response_code"]}
    assert api.post("message/update_template_card", update)["errcode"] == 0
    assert api.post("message/update_template_card", update)["errcode"] == 60140


def test_the_limits_of_corp_and_app_refuse_with_45009(control: WecomControl, api: Api) -> None:
    token = api.token()
    control.set_options(app_per_day=1)
    assert [api.send("hi", token=token)["errcode"] for _ in range(2)] == [0, 45009]
    control.set_options(app_per_day=None, calls_per_minute=3)
    assert [api.send("hi", token=token)["errcode"] for _ in range(2)] == [0, 45009]
    control.advance_clock(61)
    assert api.send("hi", token=token)["errcode"] == 0


def test_the_wrong_method_is_refused(api: Api) -> None:
    assert api.read(api.get("message/send"))["errcode"] == 43002


def test_an_app_can_ask_for_its_own_visible_range(control: WecomControl, api: Api) -> None:
    control.set_app(api.key, visible_users=["ZhangSan"])
    found = api.read(api.get("agent/get", agentid=api.app["agent_id"]))
    assert found["allow_userinfos"] == {"user": [{"userid": "ZhangSan"}]}
    assert api.read(api.get("agent/get", agentid="1"))["errcode"] == 301002
    assert api.read(api.get("getcallbackip"))["ip_list"] == ["127.0.0.1"]
