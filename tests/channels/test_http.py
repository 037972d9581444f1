from __future__ import annotations

import gzip
import logging
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.channels.calls import SECRET, one_byte_at_a_time, post, wait_until
from tests.channels.leaks import everything_said_by
from tests.channels.scripted_server import Exchange, Script, ScriptedServer
from wechat_bridge.channels.http import (
    AnswerBroken,
    BodyTooLarge,
    CallCut,
    DeadlineExceeded,
    HttpClient,
    HttpError,
    NotSent,
    ReadTimedOut,
)
from wechat_bridge.errors import PlatformUnavailable


@pytest.fixture
def newcomer() -> Iterator[HttpClient]:
    """A client that has not looked for a proxy yet."""
    with closing(HttpClient(pool_maxsize=1)) as client:
        yield client


def test_a_post_carries_its_json_its_headers_and_no_others_that_matter(
    http: HttpClient, server: ScriptedServer
) -> None:
    answer = post(http, f"{server.url}/prefix/ilink", {"text": "你好", "id": 2**64 - 1})
    received = server.received[0]
    assert (answer.status, answer.body) == (200, b"{}")
    assert (received.method, received.path) == ("POST", "/prefix/ilink")
    assert received.body == '{"text":"你好","id":18446744073709551615}'.encode()
    assert received.headers["authorization"] == f"Bearer {SECRET}"
    assert received.headers["accept-encoding"] == "identity"
    assert "cookie" not in received.headers


def test_a_get_has_no_body_and_keeps_its_query(http: HttpClient, server: ScriptedServer) -> None:
    http.get(f"{server.url}/status?qrcode=a%2Bb", {"X": "1"}, connect_seconds=2, read_seconds=2, total_seconds=5)
    received = server.received[0]
    assert (received.method, received.path, received.body) == ("GET", "/status?qrcode=a%2Bb", b"")
    assert "content-length" not in received.headers


def test_headers_of_an_answer_are_found_in_any_case(http: HttpClient, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer(b"", "200 OK", "x-encrypted-param: RE9XTg==")
    assert post(http, server.url).headers["X-Encrypted-Param"] == "RE9XTg=="


def test_a_lone_surrogate_in_a_body_is_replaced_rather_than_refused(http: HttpClient, server: ScriptedServer) -> None:
    post(http, server.url, {"text": "a\ud83db"})
    assert server.received[0].json() == {"text": "a?b"}


def test_connections_are_kept_and_cookies_are_not(http: HttpClient, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer(b"{}", "200 OK", "Set-Cookie: who=me; Path=/")
    for _ in range(3):
        post(http, server.url)
    assert server.connections_made == 1
    assert all("cookie" not in request.headers for request in server.received)


def test_a_connection_the_server_has_closed_meanwhile_is_replaced(http: HttpClient, server: ScriptedServer) -> None:
    def answer_and_go(exchange: Exchange) -> None:
        exchange.answer(b"{}")
        exchange.cut()

    server.script = answer_and_go
    for _ in range(3):
        assert post(http, server.url).status == 200
        wait_until(lambda: server.connections_open == 0)
    assert server.connections_made == 3


def test_a_redirect_is_an_answer_and_is_not_followed(http: HttpClient, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer(b"", "302 Found", f"Location: {server.url}/elsewhere")
    assert post(http, f"{server.url}/here").status == 302
    assert [request.path for request in server.received] == ["/here"]


def test_an_error_page_is_an_answer_with_its_status(http: HttpClient, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer(b"<html>timeout</html>", "524 A Timeout Occurred")
    answer = post(http, server.url)
    assert (answer.status, answer.body) == (524, b"<html>timeout</html>")


def test_a_server_that_holds_past_the_read_timeout_is_a_read_timeout(http: HttpClient, server: ScriptedServer) -> None:
    server.script = Exchange.hold
    with pytest.raises(ReadTimedOut):
        post(http, server.url, read_seconds=0.2)


def test_a_refused_connection_was_not_sent_and_says_so(http: HttpClient, server: ScriptedServer) -> None:
    with ScriptedServer(Exchange.hold) as gone:
        url = gone.url
    with pytest.raises(NotSent, match="Connection refused"):
        post(http, url)


@pytest.mark.parametrize(
    "url", ["", "nonsense", "ftp://127.0.0.1/x", "http://", "http://[/x", "http://127.0.0.1:99999/"]
)
def test_an_address_nobody_can_use_was_not_sent(http: HttpClient, url: str) -> None:
    with pytest.raises(NotSent):
        post(http, url)


def test_a_connection_cut_before_the_answer_is_a_broken_answer(http: HttpClient, server: ScriptedServer) -> None:
    server.script = Exchange.cut
    with pytest.raises(AnswerBroken):
        post(http, server.url)


@pytest.mark.parametrize(
    "beginning",
    [
        b"HTTP/1.1 20",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}",
        b"\x00\x01 this is no HTTP\r\n\r\n",
    ],
)
def test_an_answer_that_ends_half_way_is_broken(http: HttpClient, server: ScriptedServer, beginning: bytes) -> None:
    def half(exchange: Exchange) -> None:
        exchange.send(beginning)
        exchange.cut()

    server.script = half
    with pytest.raises(AnswerBroken):
        post(http, server.url)


def test_a_body_that_stalls_is_broken_and_no_quiet_poll(http: HttpClient, server: ScriptedServer) -> None:
    def stall(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        exchange.hold()

    server.script = stall
    with pytest.raises(AnswerBroken):
        post(http, server.url, read_seconds=0.2)


def test_an_answer_larger_than_the_limit_is_not_read_to_its_end(server: ScriptedServer) -> None:
    def pour(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
        exchange.drip((b"x" * 65536 for _ in one_byte_at_a_time()), every_seconds=0)

    server.script = pour
    with closing(HttpClient(pool_maxsize=1, max_body_bytes=1_000_000)) as small, pytest.raises(BodyTooLarge):
        post(small, server.url)


def test_the_limit_holds_for_what_a_compressed_answer_becomes(server: ScriptedServer) -> None:
    packed = gzip.compress(b"x" * 2_000_000)
    server.script = lambda exchange: exchange.answer(packed, "200 OK", "Content-Encoding: gzip")
    with closing(HttpClient(pool_maxsize=1, max_body_bytes=1_000_000)) as small, pytest.raises(BodyTooLarge):
        post(small, server.url)


def test_an_answer_as_large_as_the_limit_is_read(server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.answer(b"x" * 1000)
    with closing(HttpClient(pool_maxsize=1, max_body_bytes=1000)) as small:
        assert len(post(small, server.url).body) == 1000


BREAKAGES: dict[type[HttpError], Script] = {
    ReadTimedOut: Exchange.hold,
    AnswerBroken: Exchange.cut,
    DeadlineExceeded: lambda exchange: exchange.drip(one_byte_at_a_time()),
    BodyTooLarge: lambda exchange: exchange.answer(b"x" * 2000),
}


@pytest.mark.parametrize("kind", BREAKAGES)
def test_no_error_tells_a_header_a_query_or_a_password(server: ScriptedServer, kind: type[HttpError]) -> None:
    server.script = BREAKAGES[kind]
    url = f"http://user:pass-word@127.0.0.1:{server.port}/status?qrcode=very-secret"
    body = {"body": "private"}
    with closing(HttpClient(pool_maxsize=1, max_body_bytes=1000)) as small, pytest.raises(kind) as caught:
        post(small, url, body, read_seconds=0.3, total_seconds=0.5)
    said = everything_said_by(caught.value)
    assert f"POST http://127.0.0.1:{server.port}/status" in said
    assert not any(secret in said for secret in (SECRET, "very-secret", "pass-word", "private"))


@pytest.mark.parametrize("bad", ["line\nbreak", "中文"])
def test_a_header_that_cannot_be_sent_is_not_told_either(http: HttpClient, server: ScriptedServer, bad: str) -> None:
    with pytest.raises(NotSent) as caught:
        post(http, server.url, headers={"Authorization": f"Bearer {SECRET}{bad}"})
    assert SECRET not in everything_said_by(caught.value)
    assert server.received == []


def test_a_refused_connection_does_not_tell_the_query(http: HttpClient) -> None:
    with ScriptedServer(Exchange.hold) as gone:
        url = f"{gone.url}/status?qrcode=very-secret"
    with pytest.raises(NotSent) as caught:
        post(http, url)
    assert "very-secret" not in everything_said_by(caught.value)


def test_no_log_line_tells_the_query(
    http: HttpClient, server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.script = lambda exchange: exchange.answer(b"{}", "200 OK", "no header at all", "Other: 1")
    with caplog.at_level(logging.DEBUG):
        post(http, f"{server.url}/status?qrcode=very-secret")
    assert "very-secret" not in caplog.text


def test_every_error_is_one_the_flow_retries() -> None:
    kinds = (NotSent, ReadTimedOut, AnswerBroken, BodyTooLarge, DeadlineExceeded, CallCut)
    assert all(issubclass(kind, HttpError) and issubclass(kind, PlatformUnavailable) for kind in kinds)


def test_a_proxy_from_the_environment_is_used_and_read_once(
    newcomer: HttpClient, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    post(newcomer, "http://wechat.invalid/ilink")
    monkeypatch.delenv("http_proxy")
    post(newcomer, "http://wechat.invalid/ilink")
    assert [request.path for request in server.received] == ["http://wechat.invalid/ilink"] * 2


def test_no_proxy_is_honoured(newcomer: HttpClient, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert post(newcomer, server.url).status == 200


def test_a_socks_proxy_is_refused_by_name(newcomer: HttpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "socks5://user:pass-word@127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(NotSent, match="SocksProxyUnsupported") as caught:
        post(newcomer, "http://wechat.invalid/ilink")
    assert "pass-word" not in everything_said_by(caught.value)
