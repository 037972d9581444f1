"""Customer service: doorbell, cursor, pages, five messages in 48 hours, and who may speak in which state."""

from __future__ import annotations

import itertools
from typing import Any
from xml.etree import ElementTree

import pytest

from wechat_bridge.simulators.wecom import WecomControl

from .conftest import Api, Json
from .receiver import Receiver

CUSTOMER = "wmCUSTOMER0000000000000000000001"
DAY_SECONDS = 86_400


class Desk:
    """A customer service account as its app sees it."""

    def __init__(self, control: WecomControl, api: Api) -> None:
        self.control, self.api = control, api
        self.open_kfid = control.create_kf_account(api.key)

    def say(self, *texts: str) -> list[str]:
        return self.control.kf_say(self.open_kfid, CUSTOMER, *texts)

    def pull(self, cursor: str = "", **fields: Any) -> Json:
        return self.api.post("kf/sync_msg", {"cursor": cursor, "open_kfid": self.open_kfid, **fields})

    def pull_all(self, cursor: str = "", **fields: Any) -> list[Json]:
        """The pages until has_more is 0."""
        pages = [self.pull(cursor, **fields)]
        while pages[-1]["has_more"]:
            pages.append(self.pull(pages[-1]["next_cursor"], **fields))
        return pages

    def send(self, text: str = "hi", **fields: Any) -> Json:
        message = {"touser": CUSTOMER, "open_kfid": self.open_kfid, "msgtype": "text", "text": {"content": text}}
        return self.api.post("kf/send_msg", {**message, **fields})

    def events(self, event_type: str) -> list[Json]:
        rows = itertools.chain.from_iterable(page["msg_list"] for page in self.pull_all())
        found = [row["event"] for row in rows if row["msgtype"] == "event"]
        return [event for event in found if event["event_type"] == event_type]


@pytest.fixture
def desk(control: WecomControl, api: Api) -> Desk:
    return Desk(control, api)


def contents(pages: list[Json]) -> list[str]:
    return [row["text"]["content"] for page in pages for row in page["msg_list"]]


def test_what_a_customer_writes_rings_and_is_pulled_with_the_token_of_the_ring(
    control: WecomControl, receiver: Receiver
) -> None:
    assert receiver.credentials is not None
    desk = Desk(control, Api(receiver.credentials))
    [msgid] = desk.say("你好")
    document = ElementTree.fromstring(receiver.documents(1)[0])
    assert (document.findtext("Event"), document.findtext("OpenKfId")) == ("kf_msg_or_event", desk.open_kfid)
    assert document.find("FromUserName") is None
    page = desk.pull(token=document.findtext("Token"))
    assert page["has_more"] == 0
    [row] = page["msg_list"]
    assert (row["msgid"], row["external_userid"], row["origin"]) == (msgid, CUSTOMER, 3)
    assert (row["text"]["content"], len(msgid) > 32) == ("你好", True)
    control.advance_clock(601)
    assert desk.pull(token=document.findtext("Token"))["errcode"] == 95007


def test_the_cursor_goes_on_where_it_stood_and_without_it_everything_comes_again(desk: Desk) -> None:
    desk.say("one", "two")
    first = desk.pull(limit=1)
    assert (contents([first]), first["has_more"]) == (["one"], 1)
    second = desk.pull(first["next_cursor"])
    assert (contents([second]), second["has_more"]) == (["two"], 0)
    assert desk.pull(second["next_cursor"])["msg_list"] == []
    assert contents(desk.pull_all()) == ["one", "two"]
    assert len(first["next_cursor"]) <= 64


def test_messages_older_than_three_days_do_not_come_back(control: WecomControl, desk: Desk) -> None:
    desk.say("old")
    control.advance_clock(3 * DAY_SECONDS - 60)
    desk.say("new")
    assert contents(desk.pull_all()) == ["old", "new"]
    control.advance_clock(120)
    assert contents(desk.pull_all()) == ["new"]


def test_pages_may_be_short_and_empty_ones_come_before_them(control: WecomControl, desk: Desk) -> None:
    control.set_options(kf_page_size=2, kf_empty_pages=1)
    desk.say("1", "2", "3")
    pages = desk.pull_all()
    assert [len(page["msg_list"]) for page in pages] == [0, 2, 0, 1]
    assert [page["has_more"] for page in pages] == [1, 1, 1, 0]
    assert contents(pages) == ["1", "2", "3"]


def test_pulling_without_a_token_is_strictly_limited(control: WecomControl, desk: Desk) -> None:
    control.set_options(kf_pulls_without_token=2)
    assert [desk.pull()["errcode"] for _ in range(3)] == [0, 0, 45009]


@pytest.mark.parametrize(
    ("fields", "errcode"),
    [({"cursor": "made up"}, 40058), ({"limit": 1_001}, 40058), ({"open_kfid": "wkUNKNOWN"}, 95000)],
)
def test_a_wrong_pull_is_refused(desk: Desk, fields: Json, errcode: int) -> None:
    assert desk.pull(**fields)["errcode"] == errcode


def test_another_app_may_not_touch_the_account(control: WecomControl, desk: Desk) -> None:
    other = Api(control.create_app(corp_id=desk.api.app["corp_id"]))
    assert other.post("kf/sync_msg", {"open_kfid": desk.open_kfid})["errcode"] == 48007
    control.set_app(desk.api.key, may_use_kf=False)
    assert desk.pull()["errcode"] == 48002


def test_a_sixth_reply_is_accepted_and_fails_by_an_event(control: WecomControl, desk: Desk) -> None:
    desk.say("hi")
    answers = [desk.send(str(number), msgid=f"reply-{number}") for number in range(6)]
    assert [answer["errcode"] for answer in answers] == [0] * 6
    assert [shown["text"] for shown in control.deliveries(CUSTOMER)] == list("01234")
    [event] = desk.events("msg_send_fail")
    assert (event["fail_msgid"], event["fail_type"]) == ("reply-5", 6)
    assert len(control.callbacks(desk.api.key)) == 2
    desk.say("more?")
    assert desk.send("yes")["errcode"] == 0
    assert control.deliveries(CUSTOMER)[-1]["text"] == "yes"


def test_after_48_hours_a_reply_fails_or_is_refused(control: WecomControl, desk: Desk) -> None:
    desk.say("hi")
    control.advance_clock(2 * DAY_SECONDS + 1)
    assert desk.send("late")["errcode"] == 0
    assert [event["fail_type"] for event in desk.events("msg_send_fail")] == [4]
    control.set_options(kf_over_limit="refuse")
    assert desk.send("later")["errcode"] == 95002
    assert control.deliveries(CUSTOMER) == []


def test_own_messages_are_not_pulled(desk: Desk) -> None:
    desk.say("hi")
    desk.send("hello")
    assert contents(desk.pull_all()) == ["hi"]


def test_a_msgid_is_taken_once_and_has_its_shape(control: WecomControl, desk: Desk) -> None:
    [inbound] = desk.say("hi")
    assert desk.send("once", msgid="a-1") == {"errcode": 0, "errmsg": "ok", "msgid": "a-1"}
    assert desk.send("once", msgid="a-1")["errcode"] == 40058
    assert desk.send("too long", msgid=inbound)["errcode"] == 40058
    assert [shown["text"] for shown in control.deliveries(CUSTOMER)] == ["once"]


def test_a_reply_of_more_than_2048_bytes_is_cut(control: WecomControl, desk: Desk) -> None:
    desk.say("hi")
    desk.send("好" * 700)
    assert control.deliveries(CUSTOMER)[0]["text"] == "好" * 682


def test_a_menu_is_seen_with_its_lines(control: WecomControl, desk: Desk) -> None:
    desk.say("hi")
    menu = {"head_content": "well?", "list": [{"type": "click", "click": {"id": "1", "content": "yes"}}]}
    assert desk.send(msgtype="msgmenu", msgmenu=menu)["errcode"] == 0
    assert desk.send(msgtype="msgmenu", msgmenu="yes")["errcode"] == 40058
    assert control.deliveries(CUSTOMER)[0]["text"] == "well?\nyes"


def test_nobody_unknown_is_written_to(desk: Desk) -> None:
    assert desk.send()["errcode"] == 40096


@pytest.mark.parametrize(("state", "errcode"), [(0, 0), (1, 0), (2, 95018), (3, 95018), (4, 95018)])
def test_an_app_speaks_only_while_no_human_serves(control: WecomControl, desk: Desk, state: int, errcode: int) -> None:
    desk.say("hi")
    control.kf_set_state(desk.open_kfid, CUSTOMER, state, servicer_userid="LiSi")
    assert desk.send()["errcode"] == errcode
    assert [event["new_servicer_userid"] for event in desk.events("session_status_change")] == ["LiSi"]


def test_an_app_hands_a_session_over_and_cannot_take_it_back(desk: Desk) -> None:
    desk.say("hi")
    session = {"open_kfid": desk.open_kfid, "external_userid": CUSTOMER}
    changes: list[tuple[Json, int]] = [({"service_state": 1}, 0), ({"service_state": 3}, 40058)]
    changes += [({"service_state": 3, "servicer_userid": "LiSi"}, 0), ({"service_state": 1}, 95016)]
    for change, errcode in changes:
        assert desk.api.post("kf/service_state/trans", {**session, **change})["errcode"] == errcode
    state = desk.api.post("kf/service_state/get", session)
    assert (state["service_state"], state["servicer_userid"]) == (3, "LiSi")


def test_a_customer_who_writes_after_the_end_begins_anew(control: WecomControl, desk: Desk) -> None:
    desk.say("hi")
    control.kf_set_state(desk.open_kfid, CUSTOMER, 4)
    desk.say("again")
    assert control.kf_customers(desk.open_kfid)[0]["service_state"] == 0


def test_a_welcome_code_is_good_once_and_for_20_seconds(control: WecomControl, desk: Desk) -> None:
    code = control.kf_enter(desk.open_kfid, CUSTOMER, scene="shop")
    [event] = desk.events("enter_session")
    assert (event["welcome_code"], event["scene"]) == (code, "shop")
    welcome = {"code": code, "msgtype": "text", "text": {"content": "welcome"}}
    assert desk.api.post("kf/send_msg_on_event", welcome)["errcode"] == 0
    assert desk.api.post("kf/send_msg_on_event", welcome)["errcode"] == 40058
    late = control.kf_enter(desk.open_kfid, CUSTOMER)
    control.advance_clock(21)
    assert desk.api.post("kf/send_msg_on_event", {**welcome, "code": late})["errcode"] == 40058
    assert [shown["text"] for shown in control.deliveries(CUSTOMER)] == ["welcome"]


def test_the_doorbell_can_stay_silent_ring_later_and_ring_twice(control: WecomControl, receiver: Receiver) -> None:
    assert receiver.credentials is not None
    desk = Desk(control, Api(receiver.credentials))
    control.kf_say(desk.open_kfid, CUSTOMER, "one", "two", doorbell=False)
    assert control.callbacks(desk.api.key) == []
    control.kf_ring(desk.open_kfid, duplicates=1)
    first, second = receiver.documents(2)
    assert first == second
    token = ElementTree.fromstring(first).findtext("Token")
    assert contents([desk.pull(token=token)]) == ["one", "two"]


def test_any_event_can_happen_and_accounts_are_listed(control: WecomControl, desk: Desk) -> None:
    control.kf_event(desk.open_kfid, CUSTOMER, "user_recall_msg", {"recall_msgid": "m"})
    assert [event["recall_msgid"] for event in desk.events("user_recall_msg")] == ["m"]
    listed = desk.api.post("kf/account/list", {})["account_list"]
    assert [account["open_kfid"] for account in listed] == [desk.open_kfid]
