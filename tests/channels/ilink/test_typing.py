"""The typing indicator on the wire: a ticket per person, kept; then typing and cancel."""

from __future__ import annotations

import pytest

from tests.channels.scripted_server import Exchange, ScriptedServer
from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.ilink.door import IlinkDoor
from wechat_bridge.errors import PlatformUnavailable, SessionExpired
from wechat_bridge.model.channel import Account

TOKEN = "a1b2c3d4e5f6@im.bot:06000012ab34"
USER = "oTESTuser0000000000000000001@im.wechat"


@pytest.fixture
def door(http: HttpClient) -> IlinkDoor:
    return IlinkDoor(http)


@pytest.fixture
def account(server: ScriptedServer) -> Account:
    return Account(token=TOKEN, account_id="a1b2c3d4e5f6@im.bot", base_url=server.url)


def gives_tickets(exchange: Exchange) -> None:
    ticket = {"typing_ticket": "VElDS0VULTE="} if exchange.request.path.endswith("getconfig") else {}
    exchange.answer_json({"ret": 0, **ticket})


def asked(server: ScriptedServer) -> list[str]:
    return [request.path.rpartition("/")[2] for request in server.received]


def test_typing_and_cancel_go_out_as_the_official_client_sends_them(
    door: IlinkDoor, account: Account, server: ScriptedServer
) -> None:
    server.script = gives_tickets
    door.set_typing(account, USER, is_typing=True)
    door.set_typing(account, USER, is_typing=False)
    assert asked(server) == ["getconfig", "sendtyping", "sendtyping"], "the ticket is kept"
    config, typing, cancel = (request.json() for request in server.received)
    assert config["ilink_user_id"] == USER
    assert "context_token" not in config
    assert (typing["ilink_user_id"], typing["typing_ticket"], typing["status"]) == (USER, "VElDS0VULTE=", 1)
    assert (cancel["typing_ticket"], cancel["status"]) == ("VElDS0VULTE=", 2)
    assert typing["base_info"]["channel_version"] == "2.4.9"


def test_each_person_and_each_login_has_a_ticket_of_its_own(
    door: IlinkDoor, account: Account, server: ScriptedServer
) -> None:
    server.script = gives_tickets
    door.set_typing(account, USER, is_typing=True)
    door.set_typing(account, "another@im.wechat", is_typing=True)
    door.set_typing(account.model_copy(update={"token": "new"}), USER, is_typing=True)
    assert asked(server).count("getconfig") == 3


@pytest.mark.parametrize(
    "answer", [{"ret": -2, "errmsg": "ilink_user_id required"}, {"ret": 0}, {"ret": 0, "typing_ticket": None}]
)
def test_where_there_is_no_ticket_nobody_asks_again_for_a_growing_while(
    door: IlinkDoor,
    account: Account,
    server: ScriptedServer,
    answer: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    server.script = lambda exchange: exchange.answer_json(answer)
    asked_at = []
    for second in range(16):
        now = 1000.0 + second
        try:
            door.set_typing(account, USER, is_typing=True)
        except PlatformUnavailable:
            asked_at.append(second)
    assert asked_at == [0, 2, 6, 14]
    assert asked(server) == ["getconfig"] * 4


def test_an_ended_session_is_told(door: IlinkDoor, account: Account, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer_json({"errcode": -14, "errmsg": "session timeout"})
    with pytest.raises(SessionExpired):
        door.set_typing(account, USER, is_typing=True)


def test_a_refusal_does_not_repeat_the_token(door: IlinkDoor, account: Account, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer_json({"ret": -1, "errmsg": f"no {TOKEN} here"})
    with pytest.raises(PlatformUnavailable) as refused:
        door.set_typing(account, USER, is_typing=True)
    assert TOKEN not in str(refused.value)
