from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.channels.calls import one_byte_at_a_time, wait_until
from tests.channels.leaks import everything_said_by
from tests.channels.scripted_server import Exchange, ScriptedServer
from wechat_bridge.channels.base import PollAnswer, PollCut, PollingDoor
from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.ilink import door as door_module
from wechat_bridge.channels.ilink import send as send_module
from wechat_bridge.channels.ilink import wire
from wechat_bridge.channels.ilink.door import IlinkDoor
from wechat_bridge.errors import PlatformBusy, PlatformUnavailable, SendRefused, SessionExpired, TransientError
from wechat_bridge.model.channel import Account

TOKEN = "a1b2c3d4e5f6@im.bot:06000012ab34"
CONTEXT = "Q1RYLTQx"
USER = "oTESTuser0000000000000000001@im.wechat"


@pytest.fixture
def door(http: HttpClient) -> PollingDoor:
    return IlinkDoor(http)


@pytest.fixture
def account(server: ScriptedServer) -> Account:
    return Account(token=TOKEN, account_id="a1b2c3d4e5f6@im.bot", base_url=f"{server.url}/prefix")


def send(door: PollingDoor, account: Account, text: str = "because it matched", context_token: str = CONTEXT) -> Any:
    return door.send_text(account, USER, text, "wechat-bridge-1a2b-0", context_token)


def test_a_poll_asks_as_the_official_client_does(door: PollingDoor, account: Account, server: ScriptedServer) -> None:
    door.poll(account, "Q1VSU09S", None)
    request = server.received[0]
    assert (request.method, request.path) == ("POST", "/prefix/ilink/bot/getupdates")
    assert request.json()["get_updates_buf"] == "Q1VSU09S"
    assert request.json()["base_info"]["channel_version"] == "2.4.9"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["ilink-app-id"] == "bot"


def test_a_poll_brings_messages_and_cursor(door: PollingDoor, account: Account, server: ScriptedServer) -> None:
    message = {"message_id": 2**63 + 1, "from_user_id": USER, "item_list": [{"type": 1, "text_item": {"text": "hi"}}]}
    server.script = lambda exchange: exchange.answer_json(
        {"ret": 0, "msgs": [message], "get_updates_buf": "B1", "longpolling_timeout_ms": 40000}
    )
    answer = door.poll(account, "", None)
    assert [m.message_id for m in answer.messages] == ["9223372036854775809"]
    assert (answer.cursor, answer.hold_hint_seconds) == ("B1", 40.0)


def test_a_server_that_holds_longer_than_it_said_is_a_quiet_poll(
    door: PollingDoor, account: Account, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door_module, "_HOLD_SLACK_SECONDS", 0.2)
    server.script = Exchange.hold
    began = time.monotonic()
    assert door.poll(account, "B", 0.1) == PollAnswer()
    assert 0.25 < time.monotonic() - began < 2


def test_a_dripping_poll_is_a_failure(http: HttpClient, account: Account, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.drip(one_byte_at_a_time())
    with pytest.raises(PlatformUnavailable, match=r"within 0\.3 s"):
        IlinkDoor(http, poll_total_seconds=0.3).poll(account, "B", None)


def test_a_quiet_poll_ends_before_its_total_time(http: HttpClient, account: Account, server: ScriptedServer) -> None:
    server.script = Exchange.hold
    assert IlinkDoor(http, poll_total_seconds=0.6).poll(account, "B", 100.0) == PollAnswer()


def test_a_poll_that_this_process_ends_is_told_from_a_failure(
    door: PollingDoor, account: Account, server: ScriptedServer, http: HttpClient
) -> None:
    server.script = Exchange.hold
    with ThreadPoolExecutor(1) as pool:
        poll = pool.submit(door.poll, account, "B", None)
        wait_until(lambda: bool(server.received))
        http.cut_all()
        assert type(poll.exception(5)) is PollCut


@pytest.mark.parametrize("status", ["524 A Timeout Occurred", "502 Bad Gateway", "401 Unauthorized", "302 Found"])
def test_any_other_status_than_200_is_a_failure(
    door: PollingDoor, account: Account, server: ScriptedServer, status: str
) -> None:
    server.script = lambda exchange: exchange.answer(b'{"ret":0,"msgs":[]}', status, f"Location: {server.url}")
    with pytest.raises(PlatformUnavailable, match=f"HTTP {status[:3]}"):
        door.poll(account, "B", None)
    assert len(server.received) == 1


def test_a_cut_poll_is_a_failure(door: PollingDoor, account: Account, server: ScriptedServer) -> None:
    server.script = Exchange.cut
    with pytest.raises(PlatformUnavailable) as caught:
        door.poll(account, "B", None)
    assert not isinstance(caught.value, PollCut)


def test_nobody_listening_is_a_failure_and_no_quiet_poll(door: PollingDoor) -> None:
    with ScriptedServer(Exchange.hold) as gone:
        account = Account(token=TOKEN, account_id="a", base_url=gone.url)
    with pytest.raises(PlatformUnavailable, match="Connection refused"):
        door.poll(account, "B", None)


@pytest.mark.parametrize("call", ["poll", "send"])
def test_an_ended_session_wants_a_login(door: PollingDoor, account: Account, server: ScriptedServer, call: str) -> None:
    server.script = lambda exchange: exchange.answer_json({"errcode": -14, "errmsg": "session timeout"})
    with pytest.raises(SessionExpired, match="log the channel in again"):
        door.poll(account, "B", None) if call == "poll" else send(door, account)


def test_a_send_is_one_finished_bot_message_with_one_text(
    door: PollingDoor, account: Account, server: ScriptedServer
) -> None:
    send(door, account, "因为它匹配")
    request = server.received[0]
    assert request.path == "/prefix/ilink/bot/sendmessage"
    assert request.json() == {
        "msg": {
            "from_user_id": "",
            "to_user_id": USER,
            "client_id": "wechat-bridge-1a2b-0",
            "message_type": 2,
            "message_state": 2,
            "context_token": CONTEXT,
            "item_list": [{"type": 1, "text_item": {"text": "因为它匹配"}}],
        },
        "base_info": wire.base_info(),
    }


def test_without_a_context_token_none_is_sent(door: PollingDoor, account: Account, server: ScriptedServer) -> None:
    send(door, account, context_token="")
    assert "context_token" not in server.received[0].json()["msg"]


def test_a_lone_surrogate_is_sent_as_a_replacement(door: PollingDoor, account: Account, server: ScriptedServer) -> None:
    send(door, account, "a\ud83db")
    assert server.received[0].json()["msg"]["item_list"][0]["text_item"]["text"] == "a�b"


@pytest.mark.parametrize(
    ("answer", "message_id"),
    [
        ({"message_id": 7461203398120011779}, "7461203398120011779"),
        ({"ret": 0, "message_id": "7461203398120011779"}, "7461203398120011779"),
        ({"ret": 0, "message_id": 2**64 - 1}, "18446744073709551615"),
        ({}, None),
        ({"ret": 0}, None),
        ({"ret": 0, "errcode": 0, "errmsg": ""}, None),
        ({"message_id": 0}, None),
        ({"message_id": ""}, None),
    ],
)
def test_every_shape_of_success_counts(
    door: PollingDoor, account: Account, server: ScriptedServer, answer: dict[str, Any], message_id: str | None
) -> None:
    server.script = lambda exchange: exchange.answer_json(answer)
    assert send(door, account) == message_id


@pytest.mark.parametrize(
    ("answer", "code", "errmsg"),
    [
        ({"ret": -2, "errmsg": "prepare failed"}, -2, "prepare failed"),
        ({"errcode": -2, "errmsg": "rate limited"}, -2, "rate limited"),
        ({"ret": 0, "errcode": -3}, -3, ""),
        ({"ret": -2, "errcode": -3, "errmsg": 7}, -2, ""),
        ({"ret": 40, "message_id": 7}, 40, ""),
    ],
)
def test_a_refusal_tells_its_code(
    door: PollingDoor, account: Account, server: ScriptedServer, answer: dict[str, Any], code: int, errmsg: str
) -> None:
    server.script = lambda exchange: exchange.answer_json(answer)
    with pytest.raises(SendRefused) as caught:
        send(door, account)
    assert (caught.value.code, caught.value.errmsg) == (code, errmsg)


@pytest.mark.parametrize("answer", [{"ret": -13}, {"errcode": -13, "errmsg": "slow down"}])
def test_a_rate_limit_is_a_pause_of_a_minute(
    door: PollingDoor, account: Account, server: ScriptedServer, answer: dict[str, Any]
) -> None:
    server.script = lambda exchange: exchange.answer_json(answer)
    with pytest.raises(PlatformBusy) as caught:
        send(door, account)
    assert caught.value.retry_after_seconds == 60


@pytest.mark.parametrize(
    "script",
    [
        Exchange.cut,
        lambda exchange: exchange.answer(b"<html>", "524 A Timeout Occurred"),
        lambda exchange: exchange.answer(b"not json"),
        lambda exchange: exchange.answer(b""),
        lambda exchange: exchange.answer(b'{"ret":{}}'),
        Exchange.hold,
        lambda exchange: exchange.drip(one_byte_at_a_time()),
    ],
    ids=["cut", "524", "no JSON", "empty", "odd code", "held", "dripped"],
)
def test_a_send_without_a_clear_answer_may_be_repeated(
    door: PollingDoor, account: Account, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, script: Any
) -> None:
    monkeypatch.setattr(send_module, "_SEND_SECONDS", 0.3)
    server.script = script
    with pytest.raises(PlatformUnavailable):
        send(door, account)


@pytest.mark.parametrize(
    "answer",
    [
        {"ret": -2, "errmsg": f"bad token {TOKEN} or context {CONTEXT}"},
        {"ret": -13, "errmsg": f"bad token {TOKEN} or context {CONTEXT}"},
        {"ret": "odd", "errmsg": TOKEN},
    ],
)
def test_no_error_of_a_send_tells_a_token(
    door: PollingDoor, account: Account, server: ScriptedServer, answer: dict[str, Any]
) -> None:
    server.script = lambda exchange: exchange.answer_json(answer)
    with pytest.raises((SendRefused, TransientError)) as caught:
        send(door, account)
    assert TOKEN not in everything_said_by(caught.value)
    assert CONTEXT not in everything_said_by(caught.value)


@pytest.mark.parametrize("base_url", ["", "nonsense", "ftp://x", "http://[", "http://127.0.0.1:9"])
def test_an_account_with_a_bad_address_fails_like_any_other(door: PollingDoor, base_url: str) -> None:
    account = Account(token=f"{TOKEN}\nX: 1", account_id="a", base_url=base_url)
    with pytest.raises(PlatformUnavailable) as caught:
        door.poll(account, "B", None)
    assert TOKEN not in everything_said_by(caught.value)
