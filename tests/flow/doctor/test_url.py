"""`doctor` on a callback URL: asked as WeCom's console asks, and what is said about everything that may answer."""

from __future__ import annotations

import dataclasses
import re
import ssl
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.channels.scripted_server import Exchange, Script, ScriptedServer
from tests.peers.wecom_certificate import write_certificate
from tests.support.wecom_app import App
from wechat_bridge.channels.wecom.callback import Signed, open_echo
from wechat_bridge.channels.wecom.url_check import UrlAnswer
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.doctor.url import callback_url, complaint_about, of_url
from wechat_bridge.flow.health.check import Check
from wechat_bridge.live import Live
from wechat_bridge.local.ports import free_port
from wechat_bridge.wiring import Wired


@pytest.fixture(scope="module")
def app(wired: Wired) -> App:
    return App.create(wired.bridge)


def at(bridge: Bridge, base: str) -> Bridge:
    """The bridge with a public address."""
    return dataclasses.replace(bridge, live=Live(bridge.settings.model_copy(update={"public_base_url": base})))


def looked(wired: Wired, app: App, base: str) -> list[Check]:
    bridge = at(wired.bridge, base)
    channel = bridge.channels.get(app.share_id)
    assert channel is not None
    return of_url(bridge, wired.http, channel, app.account)


def complaint(wired: Wired, app: App, script: Script) -> str:
    """What is said about a server that answers so."""
    with ScriptedServer(script) as server:
        check = looked(wired, app, server.url)[0]
        assert (check.name, check.ok) == ("callback URL", False)
        assert check.detail.startswith(f"{server.url}/wecom/{app.share_id}: ")
        return check.detail


def echo_of(app: App, exchange: Exchange) -> bytes:
    """What the bridge answers, if what it was asked is signed and sealed as WeCom does it."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(exchange.request.path).query).items()}
    signed = Signed(query["msg_signature"], query["timestamp"], query["nonce"])
    return open_echo(app.account, signed, query["echostr"])


def test_the_bare_bytes_are_what_is_wanted_and_plain_http_is_only_a_warning(wired: Wired, app: App) -> None:
    with ScriptedServer(lambda exchange: exchange.answer(echo_of(app, exchange))) as server:
        checks = looked(wired, app, f"{server.url}/bridge")
        [request] = server.received
    assert request.path.startswith(f"/bridge/wecom/{app.share_id}?msg_signature=")
    assert [(check.name, check.ok, check.warning) for check in checks] == [
        ("callback URL", True, False),
        ("https", False, True),
    ]
    assert "接收消息服务器配置" in checks[0].detail


def test_each_look_asks_with_a_fresh_text_and_nonce(wired: Wired, app: App) -> None:
    texts: list[bytes] = []

    def answer(exchange: Exchange) -> None:
        texts.append(echo_of(app, exchange))
        exchange.answer(texts[-1])

    with ScriptedServer(answer) as server:
        assert looked(wired, app, server.url)[0].ok
        assert looked(wired, app, server.url)[0].ok
        nonces = [parse_qs(urlsplit(request.path).query)["nonce"] for request in server.received]
    assert nonces[0] != nonces[1]
    assert texts[0] != texts[1]
    assert [len(text) for text in texts] == [19, 19]  # as long as WeCom's own


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("404 Not Found", "the path is lost"),
        ("403 Forbidden", "does not know this channel or its Token"),
        ("400 Bad Request", "finds the query broken"),
        ("401 Unauthorized", "asks for a login"),
        ("405 Method Not Allowed", "GET is not let through"),
        ("502 Bad Gateway", "does not reach the web process"),
        ("418 Teapot", "HTTP 418: the answer has to come with status 200"),
    ],
)
def test_each_status_has_its_words(wired: Wired, app: App, status: str, words: str) -> None:
    assert words in complaint(wired, app, lambda exchange: exchange.answer(b"<html>", status))


@pytest.mark.parametrize(
    ("around", "words"),
    [
        (lambda body: b'"' + body + b'"', "has something around it"),
        (lambda body: b"\xef\xbb\xbf" + body, "has something around it"),
        (lambda body: body + b"\n", "has something around it"),
        (lambda _: b"<!DOCTYPE html><title>Shop</title>", "a web page answers instead of the bridge"),
        (lambda _: b"OK", "something else answers at this address"),
        (lambda _: b"", "something else answers at this address"),
    ],
)
def test_each_wrong_body_has_its_words(wired: Wired, app: App, around: Callable[[bytes], bytes], words: str) -> None:
    assert words in complaint(wired, app, lambda exchange: exchange.answer(around(echo_of(app, exchange))))


def test_a_page_is_known_by_its_type_too(wired: Wired, app: App) -> None:
    page = "Content-Type: text/html; charset=utf-8"
    assert "SPA fallback" in complaint(wired, app, lambda exchange: exchange.answer(b"Loading", "200 OK", page))


def test_a_redirect_is_named_without_the_query_that_it_repeats(wired: Wired, app: App) -> None:
    def redirect(exchange: Exchange) -> None:
        exchange.answer(b"", "301 Moved", f"Location: https://elsewhere.example{exchange.request.path}")

    said = complaint(wired, app, redirect)
    assert f"it redirects to https://elsewhere.example/wecom/{app.share_id}, which WeCom does not follow" in said
    assert "echostr" not in said


def test_a_right_answer_that_comes_late_is_told_from_a_good_one() -> None:
    late = UrlAnswer(200, b"1", b"1", "", "text/plain", 1.4)
    assert "right, but after 1.4 s; WeCom waits 1 s" in complaint_about(late)
    assert complaint_about(dataclasses.replace(late, seconds=0.9)) == ""


def test_the_time_of_an_answer_is_measured(wired: Wired, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wechat_bridge.flow.doctor.url.CONSOLE_SECONDS", 0.1)

    def late(exchange: Exchange) -> None:
        exchange.closing.wait(0.2)
        exchange.answer(echo_of(app, exchange))

    assert re.search(r"right, but after 0\.[2-9] s; WeCom waits 0\.1 s", complaint(wired, app, late))


def test_a_server_that_says_nothing_is_given_up(wired: Wired, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wechat_bridge.channels.wecom.url_check._PATIENCE_SECONDS", 0.3)
    assert "no answer in time" in complaint(wired, app, lambda exchange: exchange.hold())


def test_a_connection_that_ends_without_an_answer_points_to_the_ledger(wired: Wired, app: App) -> None:
    assert "is the ledger away?" in complaint(wired, app, lambda exchange: exchange.cut())


def test_an_address_at_which_nobody_listens_cannot_be_reached(wired: Wired, app: App) -> None:
    [check, _] = looked(wired, app, f"http://127.0.0.1:{free_port()}")
    assert "cannot be reached from this machine" in check.detail
    assert "Connection refused" in check.detail


def test_a_certificate_that_nobody_vouches_for_is_named(wired: Wired, app: App, tmp_path: Path) -> None:
    key, certificate = write_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with ScriptedServer(lambda exchange: exchange.answer(b""), context) as server:
        [check] = looked(wired, app, server.url)
    assert not check.ok
    assert "its certificate is not good" in check.detail


def test_without_a_public_address_nothing_is_asked_and_that_is_the_problem(wired: Wired, app: App) -> None:
    assert callback_url(wired.bridge, app.share_id) == ""
    [check] = looked(wired, app, "")
    assert (check.ok, check.warning) == (False, False)
    assert "PUBLIC_BASE_URL is not set" in check.detail
