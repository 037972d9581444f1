"""Ports of 127.0.0.1: which are free, and whether a web server answers on one."""

from __future__ import annotations

import random
import socket
from http.client import HTTPConnection, HTTPException

LOWEST, HIGHEST = 20_000, 32_000
"""Below the range from which Linux takes the ports of outgoing connections, so that a server finds its port again."""

ANSWER_SECONDS = 2.0


def free_port() -> int:
    """Return a port on which a server can listen."""
    while True:
        port = random.randrange(LOWEST, HIGHEST)
        if is_free(port):
            return port


def is_free(port: int) -> bool:
    """Return whether a server could listen on ``port`` now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the servers do
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def http_ok(port: int, method: str, path: str, body: str | None = None) -> bool:
    """Return whether the web server on ``port`` answers with a status of success; no proxy is asked."""
    connection = HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"})
        return 200 <= connection.getresponse().status < 300
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
