from __future__ import annotations

from typing import Any

import pytest

from .conftest import USER, BotClient, Json

REFUSED = {"ret": -2, "errmsg": "prepare failed"}


def shown_texts(bot: BotClient) -> list[str]:
    return [delivery["text"] for delivery in bot.control.deliveries(USER)]


def test_a_reply_reaches_the_user_with_everything_needed_to_check_it(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    answer = bot.send("hello", message["context_token"], "c-7", run_id="r-1")
    [seen] = bot.control.deliveries(USER)
    assert seen["message_id"] == str(answer["message_id"])
    assert (seen["text"], seen["client_id"], seen["context_token"]) == ("hello", "c-7", message["context_token"])
    assert (seen["bot_id"], seen["run_id"], seen["repeat"]) == (bot.bot_id, "r-1", False)


def test_waiting_for_a_delivery_ends_with_it_and_starts_after_those_seen_already(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    bot.send("first", message["context_token"])
    first = bot.control.wait_for_delivery(USER)
    assert bot.control.wait_for_delivery(USER, after=1, timeout_seconds=0.1) is None
    bot.send("second", message["context_token"], "c-2")
    second = bot.control.wait_for_delivery(USER, after=1)
    assert first is not None
    assert second is not None
    assert (first["text"], second["text"]) == ("first", "second")


@pytest.mark.parametrize(
    ("shape", "names"),
    [("message_id", {"message_id"}), ("ret_message_id", {"ret", "message_id"}), ("ret", {"ret"}), ("empty", set())],
)
def test_success_comes_in_every_shape_seen(bot: BotClient, shape: str, names: set[str]) -> None:
    bot.control.set_options(bot.bot_id, send_answer=shape)
    [message] = bot.hear("hi")
    answer = bot.send("hello", message["context_token"])
    assert set(answer) == names
    assert answer.get("ret", 0) == 0
    assert shown_texts(bot) == ["hello"]


def test_the_message_id_of_a_send_can_be_a_string(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, ids_as="string")
    [message] = bot.hear("hi")
    assert isinstance(bot.send("hello", message["context_token"])["message_id"], str)


def test_under_risk_control_sends_are_accepted_and_never_seen(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, send_answer="ret", deliver_sends=False)
    [message] = bot.hear("hi")
    assert bot.send("hello", message["context_token"]) == {"ret": 0}
    assert shown_texts(bot) == []
    assert [send["refused"] for send in bot.control.sends(bot.bot_id)] == [""]


def test_one_context_token_is_good_for_ten_sends_until_the_user_writes_again(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    answers = [bot.send(str(number), message["context_token"], f"c-{number}") for number in range(11)]
    assert all("message_id" in answer for answer in answers[:10])
    assert answers[10] == REFUSED
    [newer] = bot.hear("more")
    assert "message_id" in bot.send("10", newer["context_token"], "c-10")
    assert shown_texts(bot) == [str(number) for number in range(11)]


def test_the_quota_is_a_number_and_can_be_taken_away(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, sends_per_token=1)
    [message] = bot.hear("hi")
    assert "message_id" in bot.send("a", message["context_token"], "c-1")
    assert bot.send("b", message["context_token"], "c-2") == REFUSED
    bot.control.set_options(bot.bot_id, sends_per_token=None)
    assert "message_id" in bot.send("b", message["context_token"], "c-3")


def test_an_older_token_stays_usable_beside_the_newest(bot: BotClient) -> None:
    older, newer = bot.hear("one", "two")
    assert "message_id" in bot.send("a", newer["context_token"], "c-1")
    assert "message_id" in bot.send("b", older["context_token"], "c-2")


@pytest.mark.parametrize("token", ["", "made-up"])
def test_a_missing_or_made_up_context_token_is_refused_unless_tokens_are_not_checked(
    bot: BotClient, token: str
) -> None:
    bot.hear("hi")
    assert bot.send("hello", token) == REFUSED
    bot.control.set_options(bot.bot_id, check_context_token=False)
    assert "message_id" in bot.send("hello", token)


def test_a_context_token_of_another_user_is_refused(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    assert bot.send("hello", message["context_token"], to_user_id="oOTHER@im.wechat") == REFUSED


def test_unchecked_tokens_still_count_against_the_quota_of_the_users_newest_message(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, check_context_token=False, sends_per_token=1)
    bot.hear("hi")
    assert "message_id" in bot.send("a", "", "c-1")
    assert bot.send("b", "", "c-2") == REFUSED


def test_a_context_token_can_have_an_age_limit(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, context_token_lifetime_seconds=120)
    [message] = bot.hear("hi")
    bot.control.advance_clock(121)
    assert bot.send("hello", message["context_token"]) == REFUSED


def test_24_hours_after_the_users_last_message_sends_are_refused_or_silently_discarded(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    bot.control.advance_clock(86_401)
    assert bot.send("late", message["context_token"], "c-1") == REFUSED
    bot.control.set_options(bot.bot_id, after_window="discard")
    assert "message_id" in bot.send("late", message["context_token"], "c-2")
    assert shown_texts(bot) == []
    bot.hear("again")
    assert "message_id" in bot.send("in time", message["context_token"], "c-3")
    assert shown_texts(bot) == ["in time"]


def test_a_burst_starts_a_penalty_that_every_further_attempt_prolongs(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, burst_limit=2)
    [message] = bot.hear("hi")
    token = message["context_token"]
    assert ["message_id" in bot.send("x", token, f"c-{number}") for number in range(3)] == [True, True, False]
    bot.control.advance_clock(30)
    assert bot.send("x", token, "c-4") == REFUSED
    bot.control.advance_clock(31)
    assert bot.send("x", token, "c-5") == REFUSED
    bot.control.advance_clock(120)
    assert "message_id" in bot.send("x", token, "c-6")
    assert [send["refused"] for send in bot.control.sends(bot.bot_id)] == ["", "", "burst", "burst", "burst", ""]


def test_the_penalty_of_a_burst_may_have_a_fixed_length_and_the_genuine_rate_limit_code(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, burst_limit=1, burst_code=-13, burst_penalty_grows=False)
    [message] = bot.hear("hi")
    bot.send("x", message["context_token"], "c-1")
    assert bot.send("x", message["context_token"], "c-2") == {"ret": -13, "errmsg": "rate limited"}
    bot.control.advance_clock(30)
    bot.send("x", message["context_token"], "c-3")
    bot.control.advance_clock(31)
    assert "message_id" in bot.send("x", message["context_token"], "c-4")


def test_text_is_limited_in_utf8_bytes(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    assert bot.send("中" * 5462, message["context_token"], "c-1") == REFUSED
    assert "message_id" in bot.send("中" * 5461 + "a", message["context_token"], "c-2")


@pytest.mark.parametrize("items", [[], [{"type": 1}, {"type": 1}], None])
def test_anything_but_exactly_one_item_is_refused(bot: BotClient, items: list[Json] | None) -> None:
    [message] = bot.hear("hi")
    answer = bot.send("", message["context_token"], item_list=items)
    assert answer == {"ret": -2, "errmsg": "invalid arguments"}


@pytest.mark.parametrize("body", [{}, {"msg": None}, {"msg": {"item_list": "x"}}])
def test_a_send_without_a_message_is_refused(bot: BotClient, body: Json) -> None:
    assert bot.call("sendmessage", body) == {"ret": -2, "errmsg": "invalid arguments"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"refusal_errmsg": "unknown error"}, {"ret": -2, "errmsg": "unknown error"}),
        ({"refusal_errmsg": ""}, {"ret": -2}),
        ({"refusal_field": "errcode"}, {"errcode": -2, "errmsg": "prepare failed"}),
        ({"refusal_field": "both"}, {"ret": -2, "errcode": -2, "errmsg": "prepare failed"}),
    ],
)
def test_a_refusal_takes_any_text_and_stands_in_either_field(
    bot: BotClient, options: dict[str, Any], expected: Json
) -> None:
    bot.control.set_options(bot.bot_id, **options)
    assert bot.send("hello", "made-up") == expected


def test_a_stale_token_is_refused_with_minus_14(bot: BotClient) -> None:
    bot.control.set_options(stale_token_shape="ret")
    [message] = bot.hear("hi")
    bot.control.expire_token(bot.bot_id)
    assert bot.send("hello", message["context_token"])["ret"] == -14


def test_by_default_a_repeated_client_id_is_marked_and_shown_again(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    first = bot.send("hello", message["context_token"], "c-1")
    second = bot.send("hello", message["context_token"], "c-1")
    assert first["message_id"] != second["message_id"]
    assert [delivery["repeat"] for delivery in bot.control.deliveries(USER)] == [False, True]


def test_a_deduplicating_server_answers_a_repeat_with_the_first_id_and_shows_it_once(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, dedupe_client_id=True, sends_per_token=1)
    [message] = bot.hear("hi")
    first = bot.send("hello", message["context_token"], "c-1")
    assert bot.send("hello", message["context_token"], "c-1") == first
    assert shown_texts(bot) == ["hello"]
    assert [send["repeat"] for send in bot.control.sends(bot.bot_id)] == [False, True]


def test_a_voice_bubble_is_accepted_and_stays_invisible(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    item = {"type": 3, "voice_item": {"media": {"encrypt_query_param": "x", "aes_key": ""}, "playtime": 1000}}
    assert "message_id" in bot.send("", message["context_token"], item_list=[item])
    assert bot.control.deliveries(USER) == []


def test_tool_progress_items_are_accepted(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    item = {"type": 11, "is_completed": False, "tool_call_start_item": {"tool_name": "search", "tool_call_id": "1"}}
    assert "message_id" in bot.send("", message["context_token"], item_list=[item])
    assert bot.control.deliveries(USER)[0]["item"] == item
