"""An address that gets events by POST, answers as it is told, and remembers what it got."""

from __future__ import annotations

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class Sink(ThreadingHTTPServer):
    """Answers 204, or with the next of ``statuses``; 0 cuts the connection once the request was read."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.statuses: deque[int] = deque()
        self.got: list[dict[str, Any]] = []
        self.let_go = threading.Event()
        self.let_go.set()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}/events"

    @property
    def payloads(self) -> list[Any]:
        """The payloads of what it has taken, in order."""
        return [body["payload"] for body in self.got]

    def __enter__(self) -> Self:
        """Start it."""
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """End it."""
        self.let_go.set()
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Sink

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.let_go.wait(30)
        status = self.server.statuses.popleft() if self.server.statuses else 204
        if status == 0:
            self.close_connection = True
            return
        if status < 300:
            self.server.got.append(body)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Say nothing."""
