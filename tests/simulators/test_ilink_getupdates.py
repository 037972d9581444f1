from __future__ import annotations

import time

import pytest
import requests

from .conftest import USER, BotClient

FIRST_UNSAFE_INTEGER = 2**53 + 1


def test_an_idle_poll_is_held_for_the_hold_time_and_then_answered_empty_with_a_hint_above_it(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, hold_seconds=0.3)
    started = time.monotonic()
    answer = bot.poll()
    assert 0.3 <= time.monotonic() - started < 3
    assert (answer["ret"], answer["msgs"], answer["longpolling_timeout_ms"]) == (0, [], 35_000)
    assert answer["get_updates_buf"]


def test_a_held_poll_is_answered_at_once_when_the_user_writes(bot: BotClient) -> None:
    polling = bot.open_poll()
    started = time.monotonic()
    bot.control.say(bot.bot_id, USER, "hi")
    message = polling.result(5)["msgs"][0]
    assert time.monotonic() - started < 2
    assert message["item_list"][0]["text_item"]["text"] == "hi"
    assert (message["from_user_id"], message["to_user_id"], message["message_type"]) == (USER, bot.bot_id, 1)


def test_message_ids_are_bare_numbers_that_a_float_cannot_tell_apart(bot: BotClient) -> None:
    ids = bot.control.say(bot.bot_id, USER, "one", "two")
    text = bot.post("getupdates", {"get_updates_buf": ""}).text
    assert all(f'"message_id":{each},' in text for each in ids)
    assert int(ids[0]) > FIRST_UNSAFE_INTEGER
    assert float(ids[0]) == float(ids[1])


def test_message_ids_can_be_strings_and_can_exceed_the_signed_64_bit_range(bot: BotClient) -> None:
    bot.control.set_options(first_message_id=2**63 + 11)
    bot.control.set_options(bot.bot_id, ids_as="string")
    assert [message["message_id"] for message in bot.hear("one", "two")] == [
        "9223372036854775819",
        "9223372036854775820",
    ]


def test_ids_are_unique_across_bots_while_each_bot_has_its_own_sequence(bot: BotClient) -> None:
    other = bot.control.create_bot()
    ids = bot.control.say(bot.bot_id, USER, "a", "b") + bot.control.say(other["bot_id"], USER, "c")
    assert len(set(ids)) == 3
    assert [message["seq"] for message in bot.poll()["msgs"]] == [1, 2]


def test_several_messages_come_in_one_batch_in_order_each_with_its_own_context_token(bot: BotClient) -> None:
    messages = bot.hear("one", "two", "three")
    assert [message["item_list"][0]["text_item"]["text"] for message in messages] == ["one", "two", "three"]
    assert len({message["context_token"] for message in messages}) == 3
    assert len({message["client_id"] for message in messages}) == 3


def test_a_batch_is_cut_at_the_batch_limit_and_the_rest_comes_with_the_next_poll(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, batch_limit=2)
    bot.control.say(bot.bot_id, USER, "1", "2", "3")
    first = bot.poll()
    assert len(first["msgs"]) == 2
    assert len(bot.poll(first["get_updates_buf"])["msgs"]) == 1


def test_a_strict_server_never_repeats_a_message_even_for_an_older_cursor(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, hold_seconds=0.1)
    assert len(bot.hear("hi")) == 1
    assert bot.poll("")["msgs"] == []


def test_a_redelivering_server_repeats_from_an_older_cursor_and_everything_from_an_empty_one(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, hold_seconds=0.1, cursor="redeliver")
    bot.control.say(bot.bot_id, USER, "one")
    first = bot.poll()
    bot.control.say(bot.bot_id, USER, "two")
    second = bot.poll(first["get_updates_buf"])
    assert bot.poll(second["get_updates_buf"])["msgs"] == []
    assert bot.poll(first["get_updates_buf"])["msgs"] == second["msgs"]
    assert bot.poll("")["msgs"] == first["msgs"] + second["msgs"]


def test_a_cursor_of_another_bot_is_counted_and_moves_nothing(bot: BotClient) -> None:
    bot.control.set_options(hold_seconds=0.1)
    other = bot.control.create_bot()
    foreign = BotClient(bot.control, other["bot_id"], other["token"])
    cursor = foreign.poll()["get_updates_buf"]
    foreign.close()
    assert bot.poll(cursor)["msgs"] == []
    assert bot.control.stats(bot.bot_id)["foreign_cursors"] == 1


@pytest.mark.parametrize(("shape", "expected"), [("empty", {"get_updates_buf": ""}), ("absent", {})])
def test_the_cursor_field_can_be_empty_or_absent(bot: BotClient, shape: str, expected: dict[str, str]) -> None:
    bot.control.set_options(bot.bot_id, hold_seconds=0, cursor_field=shape)
    answer = bot.poll()
    assert {name: value for name, value in answer.items() if name == "get_updates_buf"} == expected


def test_a_message_can_be_delivered_again_with_another_context_token(bot: BotClient) -> None:
    [first] = bot.hear("hi")
    bot.control.redeliver(bot.bot_id, str(first["message_id"]))
    [again] = bot.poll()["msgs"]
    assert again["context_token"] != first["context_token"]
    assert {**again, "context_token": ""} == {**first, "context_token": ""}


def test_every_message_comes_twice_when_the_switch_is_on(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, duplicate_after_seconds=0.05)
    [first] = bot.hear("hi")
    [again] = bot.poll()["msgs"]
    assert again["message_id"] == first["message_id"]
    assert again["context_token"] != first["context_token"]


def test_a_message_may_have_any_field_set_or_left_out_and_a_raw_one_is_sent_as_it_is(bot: BotClient) -> None:
    quote = {"type": 1, "text_item": {"text": "why?"}, "ref_msg": {"svr_id": 7461203398120011001}}
    bot.control.write(bot.bot_id, [{"item_list": [quote, {"type": 8}], "message_type": 2, "omit": ["message_id"]}])
    bot.control.write_raw(bot.bot_id, [None, {"item_list": None}])
    made, null, bare = bot.poll()["msgs"]
    assert (made["item_list"], made["message_type"]) == ([quote, {"type": 8}], 2)
    assert "message_id" not in made
    assert (null, bare) == (None, {"item_list": None})


@pytest.mark.parametrize(
    ("shape", "expected"),
    [("errcode", {"errcode": -14}), ("ret", {"ret": -14}), ("both", {"ret": -14, "errcode": -14})],
)
def test_an_unknown_token_is_answered_minus_14_at_once_in_the_chosen_shape(
    bot: BotClient, shape: str, expected: dict[str, int]
) -> None:
    bot.control.set_options(stale_token_shape=shape)
    bot.token = "nobody@im.bot:00"
    assert bot.poll(timeout_seconds=2) == {**expected, "errmsg": "session timeout"}


def test_missing_app_headers_are_refused_only_in_the_strict_position_of_the_switch(bot: BotClient) -> None:
    def poll_without_app_headers() -> dict[str, object]:
        headers = {"Authorization": f"Bearer {bot.token}"}
        answer: dict[str, object] = requests.post(
            f"{bot.base_url}/ilink/bot/getupdates", json={}, headers=headers, timeout=5
        ).json()
        return answer

    bot.control.set_options(bot.bot_id, hold_seconds=0)
    assert poll_without_app_headers()["ret"] == 0
    bot.control.set_options(bot.bot_id, require_app_headers=True)
    assert poll_without_app_headers()["errcode"] == -14


@pytest.mark.parametrize("limit", ["bot_token_lifetime_seconds", "bot_token_idle_seconds"])
def test_a_bot_token_can_have_an_age_limit(bot: BotClient, limit: str) -> None:
    bot.control.set_options(bot.bot_id, hold_seconds=0, **{limit: 3600})
    assert bot.poll()["ret"] == 0
    bot.control.advance_clock(3601)
    assert bot.poll()["errcode"] == -14


def test_expiring_a_token_answers_its_open_poll_minus_14_or_lets_it_run_out(bot: BotClient) -> None:
    polling = bot.open_poll()
    bot.control.expire_token(bot.bot_id)
    assert polling.result(2)["errcode"] == -14
    assert bot.poll()["errcode"] == -14


def test_an_open_poll_of_a_replaced_token_may_run_out_by_itself(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, hold_seconds=0.3)
    polling = bot.open_poll()
    bot.control.expire_token(bot.bot_id, end_open_poll=False)
    assert polling.result(2)["ret"] == 0
    assert bot.poll()["errcode"] == -14


def test_the_api_also_answers_behind_a_path_prefix(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, hold_seconds=0)
    bot.base_url += "/some/prefix"
    assert bot.poll()["ret"] == 0
