from __future__ import annotations

import time

import pytest

from .conftest import USER, BotClient


def test_every_typing_status_is_recorded_with_its_time_and_whether_its_ticket_was_given_out(bot: BotClient) -> None:
    before = time.time()
    ticket = bot.call("getconfig", {"ilink_user_id": USER, "context_token": "c"})["typing_ticket"]
    for status, sent_ticket in ((1, ticket), (2, "made-up")):
        body = {"ilink_user_id": USER, "typing_ticket": sent_ticket, "status": status}
        assert bot.call("sendtyping", body) == {"ret": 0}
    rows = bot.control.typing(bot.bot_id)
    assert [(row["user_id"], row["status"], row["ticket_known"]) for row in rows] == [(USER, 1, True), (USER, 2, False)]
    assert before <= rows[0]["at"] <= rows[1]["at"] <= time.time()


def test_getconfig_says_ret_0_because_the_official_client_wants_to_see_it(bot: BotClient) -> None:
    assert bot.call("getconfig", {"ilink_user_id": USER})["ret"] == 0


@pytest.mark.parametrize("endpoint", ["getconfig", "sendtyping"])
def test_the_user_must_be_named_as_ilink_user_id(bot: BotClient, endpoint: str) -> None:
    assert bot.call(endpoint, {"to_user_id": USER}) == {"ret": -2, "errmsg": "ilink_user_id required"}


def test_notifystart_and_notifystop_are_recorded_in_order(bot: BotClient) -> None:
    assert bot.call("msg/notifystart", {}) == {"ret": 0, "errmsg": ""}
    assert bot.call("msg/notifystop", {}) == {"ret": 0, "errmsg": ""}
    assert [row["name"] for row in bot.control.notifications(bot.bot_id)] == ["notifystart", "notifystop"]


@pytest.mark.parametrize(
    "endpoint", ["sendmessage", "getuploadurl", "getconfig", "sendtyping", "msg/notifystart", "msg/notifystop"]
)
def test_every_endpoint_of_a_bot_answers_a_bad_token_with_minus_14(bot: BotClient, endpoint: str) -> None:
    bot.token = "nobody"
    assert bot.call(endpoint, {})["errcode"] == -14
