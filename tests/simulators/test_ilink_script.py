from __future__ import annotations

import base64
import socket
import time

import pytest
import requests

from .conftest import USER, BotClient


def test_the_next_answers_of_one_bot_are_scripted_and_then_the_server_speaks_for_itself_again(bot: BotClient) -> None:
    bot.control.set_options(hold_seconds=0)
    bot.control.script("getupdates", bot.bot_id, times=2, answer={"ret": 0, "get_updates_buf": ""})
    other = bot.control.create_bot()
    assert bot.poll() == {"ret": 0, "get_updates_buf": ""}
    assert BotClient(bot.control, other["bot_id"], other["token"]).poll()["msgs"] == []
    assert bot.poll() == {"ret": 0, "get_updates_buf": ""}
    assert bot.poll()["msgs"] == []


def test_scripted_answers_come_in_the_order_they_were_scripted(bot: BotClient) -> None:
    for number in range(3):
        bot.control.script("getupdates", bot.bot_id, answer={"ret": number})
    assert [bot.poll()["ret"] for _ in range(3)] == [0, 1, 2]


def test_an_open_poll_takes_a_scripted_answer_at_once(bot: BotClient) -> None:
    polling = bot.open_poll()
    bot.control.script("getupdates", bot.bot_id, answer={"errcode": -14})
    assert polling.result(2) == {"errcode": -14}
    assert bot.control.polls(bot.bot_id)[0]["outcome"] == "scripted"


def test_a_script_for_any_bot_and_without_an_end_lasts_until_it_is_cleared(bot: BotClient) -> None:
    bot.control.set_options(hold_seconds=0)
    bot.control.script("getupdates", times=None, answer={"msgs": [], "get_updates_buf": "B"})
    assert [bot.poll() for _ in range(20)] == [{"msgs": [], "get_updates_buf": "B"}] * 20
    bot.control.clear_script()
    assert bot.poll()["ret"] == 0


def test_a_gateway_error_has_its_status_and_its_html_body(bot: BotClient) -> None:
    bot.control.script("getupdates", bot.bot_id, status=524, body="<html>A timeout occurred</html>")
    response = bot.post("getupdates", {})
    assert (response.status_code, response.text) == (524, "<html>A timeout occurred</html>")
    assert response.headers["Content-Type"].startswith("text/html")


def test_a_body_can_be_any_bytes_with_any_header(bot: BotClient) -> None:
    data = base64.b64encode(b'{"ret":0,\xff').decode()
    bot.control.script("getupdates", bot.bot_id, body_base64=data, headers={"Content-Type": "application/json"})
    response = bot.post("getupdates", {})
    assert (response.content, response.headers["Content-Type"]) == (b'{"ret":0,\xff', "application/json")


def test_the_whole_http_answer_can_be_raw_bytes(bot: BotClient) -> None:
    raw = base64.b64encode(b"HTTP/1.1 302 Found\r\nLocation: http://evil.test/\r\nContent-Length: 0\r\n\r\n").decode()
    bot.control.script("getupdates", bot.bot_id, raw_base64=raw)
    url = f"{bot.base_url}/ilink/bot/getupdates"
    response = requests.post(url, json={}, headers=bot.headers, timeout=5, allow_redirects=False)
    assert (response.status_code, response.headers["Location"]) == (302, "http://evil.test/")


def test_large_numbers_in_a_scripted_answer_stay_exact(bot: BotClient) -> None:
    bot.control.script("getupdates", bot.bot_id, answer={"msgs": [{"message_id": 2**64 - 1}]})
    assert bot.poll()["msgs"][0]["message_id"] == 18446744073709551615


def test_an_answer_can_be_late(bot: BotClient) -> None:
    bot.control.script("getupdates", bot.bot_id, delay_seconds=0.3, answer={"ret": 0})
    started = time.monotonic()
    bot.poll()
    assert time.monotonic() - started >= 0.3


def test_an_answer_can_drip_byte_by_byte_and_its_poll_is_open_until_the_last_one(bot: BotClient) -> None:
    bot.control.script("getupdates", bot.bot_id, drip_seconds=0.02, answer={"ret": 0})
    polling = bot.open_poll()
    assert polling.result(5) == {"ret": 0}
    [poll] = bot.control.polls(bot.bot_id)
    assert poll["ended_at"] - poll["started_at"] >= 0.02 * len('{"ret": 0}')


def test_a_connection_can_be_cut_without_an_answer(bot: BotClient) -> None:
    bot.control.script("getupdates", bot.bot_id, cut=True)
    with pytest.raises(requests.ConnectionError):
        bot.poll()


def test_an_answer_can_break_off_in_the_middle(bot: BotClient) -> None:
    bot.control.script("getupdates", bot.bot_id, cut_after_bytes=5, answer={"ret": 0, "msgs": []})
    with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        bot.poll()


def test_a_hanging_request_stays_open_until_its_client_gives_up(bot: BotClient) -> None:
    bot.control.script("getupdates", bot.bot_id, hang=True)
    with pytest.raises(requests.ReadTimeout):
        bot.poll(timeout_seconds=0.2)
    assert bot.control.wait_for_open_polls(0, bot.bot_id) == 0


def test_a_batch_whose_poll_is_cut_after_processing_is_lost_and_counted(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, hold_seconds=0)
    bot.control.script("getupdates", bot.bot_id, cut=True, process=True)
    ids = bot.control.say(bot.bot_id, USER, "hi")
    with pytest.raises(requests.ConnectionError):
        bot.poll()
    assert bot.poll()["msgs"] == []
    assert [batch["message_ids"] for batch in bot.control.stats(bot.bot_id)["lost_batches"]] == [ids]


def test_a_message_can_be_cut_before_it_is_accepted(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    bot.control.script("sendmessage", bot.bot_id, cut=True)
    with pytest.raises(requests.ConnectionError):
        bot.send("hello", message["context_token"])
    assert bot.control.deliveries(USER) == []
    assert [send["refused"] for send in bot.control.sends(bot.bot_id)] == ["scripted"]


def test_a_message_can_be_accepted_and_its_answer_cut(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    bot.control.script("sendmessage", bot.bot_id, cut=True, process=True)
    with pytest.raises(requests.ConnectionError):
        bot.send("hello", message["context_token"])
    assert [delivery["text"] for delivery in bot.control.deliveries(USER)] == ["hello"]


def test_a_message_can_be_accepted_and_answered_after_the_client_gave_up(bot: BotClient) -> None:
    [message] = bot.hear("hi")
    bot.control.script("sendmessage", bot.bot_id, delay_seconds=5, process=True)
    body = {"msg": bot.message("hello", message["context_token"])}
    with pytest.raises(requests.ReadTimeout):
        bot.call("sendmessage", body, timeout_seconds=0.2)
    assert [delivery["text"] for delivery in bot.control.deliveries(USER)] == ["hello"]


@pytest.mark.parametrize(
    "refusal", [{"ret": -13}, {"ret": -2, "errmsg": "rate limited"}, {"errcode": -14}, {"ret": -3}]
)
def test_a_send_can_be_refused_with_any_code_and_is_still_on_record(bot: BotClient, refusal: dict[str, object]) -> None:
    bot.control.script("sendmessage", bot.bot_id, answer=refusal)
    assert bot.send("hello", "any", "c-9") == refusal
    [send] = bot.control.sends(bot.bot_id)
    assert (send["client_id"], send["text"], send["refused"]) == ("c-9", "hello", "scripted")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("getconfig", "getconfig"),
        ("sendtyping", "sendtyping"),
        ("getuploadurl", "getuploadurl"),
        ("notifystart", "msg/notifystart"),
        ("notifystop", "msg/notifystop"),
        ("get_bot_qrcode", "get_bot_qrcode?bot_type=3"),
    ],
)
def test_every_other_endpoint_can_be_scripted_by_its_name(bot: BotClient, name: str, path: str) -> None:
    bot.control.script(name, answer={"scripted": name})
    assert bot.call(path, {}) == {"scripted": name}


@pytest.mark.parametrize(
    ("name", "path"), [("get_qrcode_status", "ilink/bot/get_qrcode_status?qrcode=x"), ("download", "c2c/download")]
)
def test_what_is_asked_by_get_can_be_scripted_too(bot: BotClient, name: str, path: str) -> None:
    bot.control.script(name, status=524, body="gateway")
    assert requests.get(f"{bot.base_url}/{path}", timeout=5).status_code == 524


def test_a_real_answer_can_be_given_another_status(bot: BotClient) -> None:
    bot.control.set_options(bot.bot_id, hold_seconds=0)
    bot.control.script("getupdates", bot.bot_id, status=500, headers={"X-Why": "test"})
    response = bot.post("getupdates", {})
    assert (response.status_code, response.json()["msgs"], response.headers["X-Why"]) == (500, [], "test")


def test_a_connection_that_was_answered_by_hand_is_closed_after_exactly_those_bytes(bot: BotClient) -> None:
    bot.control.script("getupdates", bot.bot_id, raw_base64=base64.b64encode(b"not HTTP at all").decode())
    host, port = bot.base_url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(bot.raw_request("getupdates", {}))
        received = b"".join(iter(lambda: connection.recv(100), b""))
    assert received == b"not HTTP at all"
