"""Events by HTTP: what the address gets, what its answers mean, and whether a failed attempt may have had an effect."""

from __future__ import annotations

import hashlib
import hmac
import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.channels.scripted_server import Exchange, Received, ScriptedServer, SilentHandshakeServer
from wechat_bridge.engines.event_webhook import EventWebhook
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.errors import DispatchRefused, DispatchUnavailable

SECRET = "the-secret-of-the-shop"
BODY = b'{"id": "evt-1", "payload": {"card": "4111 nobody may log"}}'
HEADERS = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "x-event-id": "evt-1"}
ECHO = b"refused: 4111 nobody may log"


@pytest.fixture
def shop() -> Iterator[ScriptedServer]:
    """A server that takes whatever it gets."""
    with ScriptedServer(lambda exchange: exchange.answer(b"")) as server:
        yield server


def post(http: EngineHttp, url: str, secret: str = SECRET, timeout_seconds: float = 10.0) -> None:
    EventWebhook(http).post(f"{url}/events?token=s3cret-in-url", secret, "evt-1", BODY, HEADERS, timeout_seconds)


def answering(shop: ScriptedServer, status: str, *headers: str) -> None:
    shop.script = lambda exchange: exchange.answer(ECHO, status, *headers)


def failed(http: EngineHttp, url: str, timeout_seconds: float = 10.0) -> DispatchUnavailable:
    """The error of an attempt that may succeed later; it tells neither a secret nor anything of the event."""
    with pytest.raises(DispatchUnavailable) as caught:
        post(http, url, timeout_seconds=timeout_seconds)
    _is_discreet(caught.value)
    return caught.value


def _is_discreet(error: Exception) -> None:
    said = str(error)
    assert said.startswith("event target (http")
    for hidden in (SECRET, "s3cret-in-url", "4111"):
        assert hidden not in said


def _received(shop: ScriptedServer) -> Received:
    (one,) = shop.received
    return one


def test_it_gets_the_event_signed_with_its_id_as_idempotency_key(engine_http: EngineHttp, shop: ScriptedServer) -> None:
    post(engine_http, shop.url)
    got = _received(shop)
    assert (got.method, got.path, got.body) == ("POST", "/events?token=s3cret-in-url", BODY)
    assert {name: got.headers[name] for name in HEADERS} == HEADERS
    assert (got.headers["idempotency-key"], got.headers["content-type"]) == ("evt-1", "application/json")
    timestamp = got.headers["x-wechat-bridge-timestamp"]
    expected = hmac.new(SECRET.encode(), f"{timestamp}.".encode() + BODY, hashlib.sha256).hexdigest()
    assert got.headers["x-wechat-bridge-signature"] == f"sha256={expected}"
    assert abs(time.time() - int(timestamp)) < 10


def test_without_a_secret_nothing_claims_to_be_signed(engine_http: EngineHttp, shop: ScriptedServer) -> None:
    post(engine_http, shop.url, secret="")
    headers = _received(shop).headers
    assert headers["idempotency-key"] == "evt-1"
    assert not [name for name in headers if name.startswith("x-wechat-bridge-")]


@pytest.mark.parametrize("status", ["200 OK", "201 Created", "202 Accepted", "204 No Content", "299 Fine"])
def test_every_2xx_says_that_it_has_the_event(engine_http: EngineHttp, shop: ScriptedServer, status: str) -> None:
    body = b"" if status.startswith("204") else b"<html>whatever</html>"
    shop.script = lambda exchange: exchange.answer(body, status)
    post(engine_http, shop.url)
    post(engine_http, shop.url)
    assert (len(shop.received), shop.connections_made) == (2, 1)


def test_a_2xx_whose_body_never_ends_has_the_event_all_the_same(engine_http: EngineHttp, shop: ScriptedServer) -> None:
    def begin(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")
        exchange.hold()

    shop.script = begin
    started = time.monotonic()
    post(engine_http, shop.url)
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    "status", ["400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found", "409 Conflict", "410 Gone",
               "413 Too Large", "415 Unsupported", "422 Unprocessable"],
)  # fmt: skip
def test_f6_a_4xx_refuses_for_good(engine_http: EngineHttp, shop: ScriptedServer, status: str) -> None:
    answering(shop, status, "Retry-After: 1")
    with pytest.raises(DispatchRefused, match=f"answered with status {status[:3]}.*dead letter") as caught:
        post(engine_http, shop.url)
    _is_discreet(caught.value)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_not_followed(engine_http: EngineHttp, shop: ScriptedServer, status: str) -> None:
    answering(shop, status, f"Location: {shop.url}/elsewhere")
    with pytest.raises(DispatchRefused, match=f"status {status[:3]}; redirects are not followed") as caught:
        post(engine_http, shop.url)
    _is_discreet(caught.value)
    assert [each.path.partition("?")[0] for each in shop.received] == ["/events"]


@pytest.mark.parametrize(
    ("status", "may_have_effect"),
    [
        ("408 Request Timeout", False), ("425 Too Early", False), ("429 Too Many Requests", False),
        ("503 Service Unavailable", False), ("500 Internal Server Error", True), ("501 Not Implemented", True),
        ("502 Bad Gateway", True), ("504 Gateway Timeout", True), ("599 Odd", True),
    ],
)  # fmt: skip
def test_c6_a_status_that_may_pass_says_whether_something_may_have_been_done(
    engine_http: EngineHttp, shop: ScriptedServer, status: str, may_have_effect: bool
) -> None:
    answering(shop, status)
    error = failed(engine_http, shop.url)
    assert f"answered with status {status[:3]}" in str(error)
    assert (error.may_have_effect, error.retry_after_seconds) == (may_have_effect, None)


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable", "500 Internal Server Error"])
def test_f4_it_comes_again_no_sooner_than_the_address_says(
    engine_http: EngineHttp, shop: ScriptedServer, status: str
) -> None:
    answering(shop, status, "Retry-After: 7")
    assert failed(engine_http, shop.url).retry_after_seconds == 7
    in_a_minute = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    answering(shop, status, f"Retry-After: {in_a_minute}")
    assert failed(engine_http, shop.url).retry_after_seconds == pytest.approx(60, abs=5)


def test_c6_where_nobody_listens_nothing_was_done(engine_http: EngineHttp) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert failed(engine_http, f"http://127.0.0.1:{port}").may_have_effect is False


def test_c6_where_no_such_host_is_nothing_was_done(engine_http: EngineHttp) -> None:
    assert failed(engine_http, "http://nowhere.invalid").may_have_effect is False


def test_c6_where_no_handshake_succeeds_nothing_was_done(engine_http: EngineHttp) -> None:
    with SilentHandshakeServer(Exchange.hold) as server:
        url = server.url.replace("http:", "https:")
        assert failed(engine_http, url, timeout_seconds=0.3).may_have_effect is False


def _nothing(exchange: Exchange) -> None:
    exchange.cut()


def _half_a_status(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 20")
    exchange.cut()


def _no_http(exchange: Exchange) -> None:
    exchange.send(b"+OK what is this\r\n\r\n")
    exchange.cut()


@pytest.mark.parametrize("script", [_nothing, _half_a_status, _no_http])
def test_c6_an_answer_that_breaks_off_may_have_been_preceded_by_an_effect(
    engine_http: EngineHttp, shop: ScriptedServer, script: Callable[[Exchange], None]
) -> None:
    shop.script = script
    assert failed(engine_http, shop.url).may_have_effect is True
    assert _received(shop).body == BODY


def test_c6_an_attempt_on_a_kept_connection_tells_the_same(engine_http: EngineHttp, shop: ScriptedServer) -> None:
    post(engine_http, shop.url)
    shop.script = _nothing
    assert failed(engine_http, shop.url).may_have_effect is True
    assert shop.connections_made == 1


def _drip(exchange: Exchange) -> None:
    exchange.drip([b"HTTP/1.1 200 OK\r\n", *[b"X-Slow: 1\r\n"] * 100], 0.05)


@pytest.mark.parametrize("script", [Exchange.hold, _drip])
def test_the_whole_exchange_has_a_deadline_and_may_have_had_an_effect(
    engine_http: EngineHttp, shop: ScriptedServer, script: Callable[[Exchange], None]
) -> None:
    shop.script = script
    started = time.monotonic()
    error = failed(engine_http, shop.url, timeout_seconds=0.3)
    assert time.monotonic() - started < 2
    assert "within 0.3 s" in str(error)
    assert error.may_have_effect is True
