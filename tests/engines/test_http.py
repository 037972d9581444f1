"""The deadline of an exchange holds whatever the other side does, and connections are kept only when they are clean."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.channels.scripted_server import Exchange, ScriptedServer, SilentHandshakeServer
from wechat_bridge.engines.deadline import Deadline
from wechat_bridge.engines.http import EngineHttp, EngineServer
from wechat_bridge.errors import EngineRefused, EngineUnavailable

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nContent-Type: application/json\r\n\r\n"


def read(http: EngineHttp, url: str, seconds: float = 0.5, silence_seconds: float = 10.0) -> bytes:
    server = EngineServer("tried", url, http)
    with server.post("/x?token=s3cret", b"{}", {}, Deadline(seconds, silence_seconds)) as reply:
        return reply.read()


def error_of(http: EngineHttp, url: str, seconds: float = 0.5, silence_seconds: float = 10.0) -> str:
    started = time.monotonic()
    with pytest.raises(EngineUnavailable) as caught:
        read(http, url, seconds, silence_seconds)
    assert time.monotonic() - started < min(seconds, silence_seconds) + 1.5
    assert "s3cret" not in str(caught.value)
    return str(caught.value)


def drip_head(exchange: Exchange) -> None:
    exchange.drip([b"HTTP/1.1 200 OK\r\n", *([b"X-Slow: 1\r\n"] * 100)], 0.1)


def drip_chunks(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    exchange.drip([b"1\r\nx\r\n"] * 100, 0.1)


def drip_one_chunk(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFF\r\n")
    exchange.drip([b"x"] * 100, 0.1)


def drip_body(exchange: Exchange) -> None:
    exchange.send(HEAD)
    exchange.drip([b"x" * 50] * 20, 0.1)


def begin_and_hold(exchange: Exchange) -> None:
    exchange.send(HEAD + b"x")
    exchange.hold()


def hold(exchange: Exchange) -> None:
    exchange.hold()


@pytest.mark.parametrize("script", [drip_head, drip_chunks, drip_one_chunk, drip_body, hold])
def test_nothing_outlasts_the_deadline(engine_http: EngineHttp, script: Callable[[Exchange], None]) -> None:
    with ScriptedServer(script) as server:
        assert "no complete answer within 0.5 s" in error_of(engine_http, server.url)


def test_a_handshake_that_never_ends_is_left(engine_http: EngineHttp) -> None:
    with SilentHandshakeServer(hold) as server:
        url = server.url.replace("http:", "https:")
        assert "engine tried (https://127.0.0.1" in error_of(engine_http, url)


def test_silence_ends_an_exchange_and_slowness_does_not(engine_http: EngineHttp) -> None:
    with ScriptedServer(drip_body) as server:
        assert len(read(engine_http, server.url, 20, 0.5)) == 1000
        server.script = begin_and_hold
        assert "silent for 0.3 s" in error_of(engine_http, server.url, 10, 0.3)


@pytest.mark.parametrize(
    "answer",
    [
        HEAD + b"too short",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
        b"no HTTP at all\r\n\r\n",
        b"",
    ],
)
def test_a_broken_answer_may_pass(engine_http: EngineHttp, answer: bytes) -> None:
    def script(exchange: Exchange) -> None:
        exchange.send(answer)
        exchange.cut()

    with ScriptedServer(script) as server:
        assert error_of(engine_http, server.url, 5)


def test_a_connection_is_used_again_after_a_whole_answer_and_closed_after_half_a_one(engine_http: EngineHttp) -> None:
    with ScriptedServer(lambda exchange: exchange.answer(b"whole")) as server:
        assert [read(engine_http, server.url) for _ in range(3)] == [b"whole"] * 3
        assert server.connections_made == 1
        with EngineServer("tried", server.url, engine_http).post("", b"{}", {}, Deadline(5, 5)) as reply:
            assert reply.status == 200  # and its body is left unread
        assert read(engine_http, server.url) == b"whole"
        assert server.connections_made == 2


def test_the_deadline_of_one_exchange_is_not_that_of_the_next_on_the_same_connection(engine_http: EngineHttp) -> None:
    def slow(exchange: Exchange) -> None:
        time.sleep(0.6)
        exchange.answer(b"slow")

    with ScriptedServer(lambda exchange: exchange.answer(b"quick")) as server:
        assert read(engine_http, server.url, 0.3) == b"quick"
        server.script = slow
        assert read(engine_http, server.url, 5) == b"slow"
        assert server.connections_made == 1


def test_a_connection_that_the_server_closed_meanwhile_is_not_an_error(engine_http: EngineHttp) -> None:
    def once(exchange: Exchange) -> None:
        exchange.answer(b"last")
        exchange.cut()

    with ScriptedServer(once) as server:
        assert read(engine_http, server.url, 5) == b"last"
        deadline = time.monotonic() + 5
        while server.connections_open and time.monotonic() < deadline:
            time.sleep(0.01)
        assert read(engine_http, server.url, 5) == b"last"


def test_an_answer_without_an_announced_end_is_read_to_its_close(engine_http: EngineHttp) -> None:
    def script(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end")
        exchange.cut()

    with ScriptedServer(script) as server:
        assert read(engine_http, server.url, 5) == b"until the end"


def test_an_endless_answer_is_refused(engine_http: EngineHttp) -> None:
    def script(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        for _ in range(200):
            exchange.send(b"x" * 1_000_000)

    with ScriptedServer(script) as server, pytest.raises(EngineRefused, match="16 MiB"):
        read(engine_http, server.url, 20)


def test_a_large_question_may_take_longer_to_send_than_a_connection_to_open(
    engine_http: EngineHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wechat_bridge.engines.http.CONNECT_SECONDS", 0.2)
    body = b"x" * 30_000_000 + b"end"

    def read_slowly(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            time.sleep(0.6)
            tail = b""
            while not tail.endswith(b"end") and (piece := connection.recv(1 << 20)):
                tail = tail[-3:] + piece
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_slowly, listener)
        server = EngineServer("tried", f"http://127.0.0.1:{listener.getsockname()[1]}", engine_http)
        with server.post("", body, {}, Deadline(10, 10)) as reply:
            assert reply.read() == b"ok"
        reading.result(5)


def test_a_proxy_of_the_environment_is_used(engine_http: EngineHttp, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(lambda exchange: exchange.answer(b"through the proxy")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert read(engine_http, "http://engine.invalid", 5) == b"through the proxy"
        assert proxy.received[0].path == "http://engine.invalid/x?token=s3cret"


def test_tls_is_verified_and_has_the_deadline_too(monkeypatch: pytest.MonkeyPatch, certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ScriptedServer(lambda exchange: exchange.answer(b"safe"), context) as server:
        with closing(EngineHttp(pool_maxsize=1)) as stranger:
            error_of(stranger, server.url, 5)
            assert server.received == []
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
        with closing(EngineHttp(pool_maxsize=1)) as friend:
            assert [read(friend, server.url, 5) for _ in range(2)] == [b"safe", b"safe"]
            server.script = drip_body
            assert "no complete answer within 0.5 s" in error_of(friend, server.url)
