from __future__ import annotations

from typing import Any

import pytest

from tests.channels.leaks import everything_said_by
from tests.channels.scripted_server import Exchange, ScriptedServer
from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.ilink.login import IlinkLogin
from wechat_bridge.errors import PlatformUnavailable
from wechat_bridge.model.channel import Account, Login
from wechat_bridge.model.login import QrCode, QrStatus

LINK = "https://liteapp.weixin.qq.com/q/ABCdef?qrcode=5f0e9c2ab1d84e7790aa&bot_type=3"
CONFIRMED = {
    "ret": 0,
    "status": "confirmed",
    "bot_token": "a1b2c3d4e5f6@im.bot:06000012ab34",
    "ilink_bot_id": "a1b2c3d4e5f6@im.bot",
    "baseurl": "https://ilink-sh.example.com",
    "ilink_user_id": "oTESTuser0000000000000000001@im.wechat",
}


def door(http: HttpClient, question_seconds: float = 5.0) -> IlinkLogin:
    return IlinkLogin(http, question_seconds)


def status_of(http: HttpClient, server: ScriptedServer, answer: Any, **options: Any) -> QrStatus:
    server.script = lambda exchange: exchange.answer_json(answer)
    return door(http).ask("5f0e9c2ab1d84e7790aa", base_url=server.url, **options)


def test_a_qr_code_is_fetched_with_the_tokens_that_are_here(http: HttpClient, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer_json(
        {"ret": 0, "qrcode": "5f0e9c2ab1d84e7790aa", "qrcode_img_content": LINK}
    )
    tokens = [f"bot{number}@im.bot:0500" for number in range(12)]
    assert door(http).fetch_code(tokens, server.url) == QrCode("5f0e9c2ab1d84e7790aa", LINK)
    request = server.received[0]
    assert (request.method, request.path) == ("POST", "/ilink/bot/get_bot_qrcode?bot_type=3")
    assert request.json() == {"local_token_list": tokens[:10]}
    assert "authorization" not in request.headers
    assert request.headers["authorizationtype"] == "ilink_bot_token"


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"qrcode": "x"},
        {"qrcode_img_content": LINK},
        {"qrcode": 7},
        [],
        {"qrcode": "x", "qrcode_img_content": "x" * 2001},
    ],
)
def test_an_answer_without_a_code_is_a_failure(http: HttpClient, server: ScriptedServer, answer: Any) -> None:
    server.script = lambda exchange: exchange.answer_json(answer)
    with pytest.raises(PlatformUnavailable, match="get_bot_qrcode"):
        door(http).fetch_code(base_url=server.url)


def test_a_refused_code_says_why_without_the_tokens(http: HttpClient, server: ScriptedServer) -> None:
    token = "a1b2@im.bot:0500"
    server.script = lambda exchange: exchange.answer_json({"ret": 2, "errmsg": f"bad bot_type for {token}"})
    with pytest.raises(PlatformUnavailable, match=r"code 2, bad bot_type") as caught:
        door(http).fetch_code([token], server.url)
    assert token not in everything_said_by(caught.value)


def test_a_status_is_asked_for_with_everything_encoded(http: HttpClient, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer_json({"status": "wait"})
    door(http).ask("a+b/c=", number="1 2", base_url=server.url)
    request = server.received[0]
    assert (request.method, request.path) == (
        "GET",
        "/ilink/bot/get_qrcode_status?qrcode=a%2Bb%2Fc%3D&verify_code=1%202",
    )
    assert request.headers["ilink-app-clientversion"] == "132105"


@pytest.mark.parametrize(
    "status",
    ["wait", "scaned", "need_verifycode", "verify_code_blocked", "expired", "binded_redirect", "something_new"],
)
def test_every_status_is_passed_on_known_or_not(http: HttpClient, server: ScriptedServer, status: str) -> None:
    assert status_of(http, server, {"ret": 0, "status": status}) == QrStatus(status)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("ilinkai-sh.example.com", "ilinkai-sh.example.com"),
        ("evil.example/path?", "evil.example/path?"),
        (None, ""),
        ("", ""),
        (["h"], ""),
    ],
)
def test_a_redirect_is_passed_on_as_it_comes_to_be_judged_or_as_none(
    http: HttpClient, server: ScriptedServer, host: object, expected: str
) -> None:
    answer = {"ret": 0, "status": "scaned_but_redirect", "redirect_host": host}
    assert status_of(http, server, answer) == QrStatus("scaned_but_redirect", redirect_host=expected)


def test_a_confirmed_login_brings_the_account_and_who_scanned(http: HttpClient, server: ScriptedServer) -> None:
    assert status_of(http, server, CONFIRMED).login == Login(
        account=Account(
            token="a1b2c3d4e5f6@im.bot:06000012ab34",
            account_id="a1b2c3d4e5f6@im.bot",
            base_url="https://ilink-sh.example.com",
        ),
        owner_user_id="oTESTuser0000000000000000001@im.wechat",
    )


@pytest.mark.parametrize("baseurl", [None, "", "no address", 7])
def test_an_account_without_an_address_of_its_own_gets_the_default(
    http: HttpClient, server: ScriptedServer, baseurl: object
) -> None:
    login = status_of(http, server, {**CONFIRMED, "baseurl": baseurl}).login
    assert login is not None
    assert login.account.base_url == "https://ilinkai.weixin.qq.com"
    elsewhere = status_of(http, server, {**CONFIRMED, "baseurl": baseurl}, default_base_url=server.url).login
    assert elsewhere is not None
    assert elsewhere.account.base_url == server.url


def test_a_scanner_who_is_not_named_does_not_look_like_another_one(http: HttpClient, server: ScriptedServer) -> None:
    login = status_of(http, server, {**CONFIRMED, "ilink_user_id": None}).login
    assert login is not None
    assert login.owner_user_id == "a1b2c3d4e5f6@im.bot"


@pytest.mark.parametrize("missing", ["ilink_bot_id", "bot_token"])
def test_a_confirmed_login_without_its_account_brings_none(
    http: HttpClient, server: ScriptedServer, missing: str
) -> None:
    assert status_of(http, server, {**CONFIRMED, missing: None}) == QrStatus("confirmed")


def test_a_status_that_is_held_too_long_is_waiting(http: HttpClient, server: ScriptedServer) -> None:
    server.script = Exchange.hold
    assert door(http, 0.2).ask("x", base_url=server.url) == QrStatus("wait", is_held=True)


@pytest.mark.parametrize(
    "script",
    [
        Exchange.cut,
        lambda exchange: exchange.answer(b"<html>", "524 A Timeout Occurred"),
        lambda exchange: exchange.answer(b"<html>"),
        lambda exchange: exchange.answer_json({"ret": 0}),
    ],
    ids=["cut", "524", "no JSON", "no status"],
)
def test_a_status_that_cannot_be_read_is_a_failure_and_keeps_the_key_to_itself(
    http: HttpClient, server: ScriptedServer, script: Any
) -> None:
    server.script = script
    with pytest.raises(PlatformUnavailable) as caught:
        door(http).ask("5f0e9c2ab1d84e7790aa", base_url=server.url)
    assert "5f0e9c2ab1d84e7790aa" not in str(caught.value)


def test_neither_a_code_nor_a_login_shows_its_secrets() -> None:
    account = Account(token="secret-token", account_id="a", base_url="https://h")
    shown = repr(QrCode("secret-key", LINK)) + repr(QrStatus("confirmed", Login(account=account, owner_user_id="u")))
    assert "secret" not in shown
    assert "5f0e9c2ab1d84e7790aa" not in shown
