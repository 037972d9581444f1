"""What stands between WeCom and the web processes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import requests

from tests.soak.front import HOST, Front
from wechat_bridge.local.ports import free_port


class Numbered(BaseHTTPRequestHandler):
    """Says on which port it is."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(self.connection.getsockname()[1]).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def servers() -> Iterator[list[int]]:
    """Two servers."""
    with ExitStack() as stack:
        found = []
        for _ in range(2):
            server = stack.enter_context(HTTPServer((HOST, 0), Numbered))
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
            stack.callback(server.shutdown)
            found.append(server.server_address[1])
        yield found


def ask(front: Front) -> int:
    return int(requests.get(f"http://{HOST}:{front.port}/", timeout=5).text)


def test_each_is_asked_in_turn(servers: list[int]) -> None:
    with Front(servers) as front:
        assert [ask(front) for _ in range(4)] == servers * 2


def test_one_that_is_not_there_is_passed_by(servers: list[int]) -> None:
    with Front([free_port(), servers[0]]) as front:
        assert {ask(front) for _ in range(4)} == {servers[0]}


def test_with_none_there_the_connection_ends_without_an_answer() -> None:
    with Front([free_port(), free_port()]) as front, pytest.raises(requests.ConnectionError):
        ask(front)


def test_what_a_server_breaks_off_is_broken_off() -> None:
    with (
        socket.create_server((HOST, 0)) as listener,
        Front([listener.getsockname()[1]]) as front,
        socket.create_connection((HOST, front.port), 5) as client,
    ):
        client.sendall(b"hello")
        there, _ = listener.accept()
        assert there.recv(5) == b"hello"
        there.close()

        assert client.recv(1) == b""
