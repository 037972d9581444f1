from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.channels.calls import one_byte_at_a_time, post, wait_until
from tests.channels.scripted_server import Exchange, ScriptedServer
from wechat_bridge.channels.http import (
    CallCut,
    DeadlineExceeded,
    HttpAnswer,
    HttpClient,
)


def deadline_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "http-deadlines"]


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nX-Slow: ",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n",
    ],
    ids=["status line", "header", "body", "body until close", "old body"],
)
def test_a_server_that_drips_is_cut_at_the_total_time(
    http: HttpClient, server: ScriptedServer, beginning: bytes
) -> None:
    def drip(exchange: Exchange) -> None:
        exchange.send(beginning)
        exchange.drip(one_byte_at_a_time())

    server.script = drip
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=r"within 0\.4 s"):
        post(http, server.url, total_seconds=0.4)
    assert 0.3 < time.monotonic() - began < 2


def test_a_dripped_chunked_body_is_cut_too(http: HttpClient, server: ScriptedServer) -> None:
    def drip(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        exchange.drip(b"1\r\nx\r\n" for _ in one_byte_at_a_time())

    server.script = drip
    with pytest.raises(DeadlineExceeded):
        post(http, server.url, total_seconds=0.4)


def test_a_drip_that_ends_in_time_is_a_whole_answer(http: HttpClient, server: ScriptedServer) -> None:
    def drip(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        exchange.drip((b"h", b"e", b"l", b"l", b"o"), every_seconds=0.02)

    server.script = drip
    assert post(http, server.url).body == b"hello"


def test_the_deadline_of_a_short_call_is_kept_while_a_long_one_runs(http: HttpClient, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.drip(one_byte_at_a_time())
    with ThreadPoolExecutor() as pool:
        long = pool.submit(post, http, server.url, total_seconds=1.2)
        wait_until(lambda: len(server.received) == 1)
        began = time.monotonic()
        with pytest.raises(DeadlineExceeded):
            post(http, server.url, total_seconds=0.3)
        assert time.monotonic() - began < 1
        with pytest.raises(DeadlineExceeded):
            long.result(5)


def test_a_client_goes_on_after_a_cut(http: HttpClient, server: ScriptedServer) -> None:
    server.script = lambda exchange: exchange.drip(one_byte_at_a_time())
    with pytest.raises(DeadlineExceeded):
        post(http, server.url, total_seconds=0.2)
    server.script = lambda exchange: exchange.answer(b"again")
    assert post(http, server.url).body == b"again"


def test_cut_all_ends_every_call_that_runs_and_none_that_comes_later(http: HttpClient, server: ScriptedServer) -> None:
    server.script = Exchange.hold
    with ThreadPoolExecutor(10) as pool:
        running: list[Future[HttpAnswer]] = [pool.submit(post, http, server.url, read_seconds=30) for _ in range(10)]
        wait_until(lambda: len(server.received) == 10)
        http.cut_all()
        errors = [future.exception(5) for future in running]
    assert [type(error) for error in errors] == [CallCut] * 10
    server.script = lambda exchange: exchange.answer(b"{}")
    assert post(http, server.url).status == 200


def test_making_a_client_starts_no_thread_and_closing_it_ends_the_one_it_had(server: ScriptedServer) -> None:
    before = len(deadline_threads())
    client = HttpClient(pool_maxsize=1)
    assert len(deadline_threads()) == before
    post(client, server.url)
    assert len(deadline_threads()) == before + 1
    client.close()
    assert len(deadline_threads()) == before
