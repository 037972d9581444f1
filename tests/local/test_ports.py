"""Free ports, and web servers on them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from wechat_bridge.local.ports import HIGHEST, LOWEST, free_port, http_ok, is_free


class Answers(BaseHTTPRequestHandler):
    """200 for /good, 503 for the rest."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/good" else 503)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture
def web_port() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_a_free_port_can_be_listened_on_and_is_below_those_of_outgoing_connections() -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        assert LOWEST <= port < HIGHEST
        assert not is_free(port)
    assert is_free(port)


@pytest.mark.parametrize(("path", "ok"), [("/good", True), ("/bad", False)])
def test_a_web_server_is_ok_when_its_status_says_so(web_port: int, path: str, ok: bool) -> None:
    assert http_ok(web_port, "GET", path) is ok


def test_nobody_listening_is_not_ok() -> None:
    assert http_ok(free_port(), "GET", "/") is False


def test_a_server_that_speaks_no_http_is_not_ok() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def babble() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"garbage\r\n\r\n")

        thread = threading.Thread(target=babble)
        thread.start()
        assert http_ok(server.getsockname()[1], "GET", "/") is False
        thread.join()
