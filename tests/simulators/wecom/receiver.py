"""A bridge with no wisdom of its own: takes callbacks over real HTTP, records them, and answers as it is told."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qsl, urlsplit
from xml.etree import ElementTree

from wechat_bridge.simulators.wecom import AppCredentials
from wechat_bridge.simulators.wecom.crypto import CallbackCrypto

DEADLINE_SECONDS = 10.0


@dataclass(frozen=True)
class Received:
    """One request; `at` on the monotonic clock."""

    at: float
    method: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """What a request gets; `cut` closes the connection instead. `url_check` answers with the decrypted echostr."""

    body: bytes = b""
    status: int = 200
    delay_seconds: float = 0.0
    cut: bool = False
    url_check: bool = False
    headers: tuple[tuple[str, str], ...] = ()


class Receiver:
    """Listens on 127.0.0.1; replies that are given in `replies` are used up first, then `reply` goes on."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.replies: deque[Reply] = deque()
        self.reply = Reply()
        self.credentials: AppCredentials | None = None
        self._arrived = threading.Condition()
        self._leave = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/wecom/test?fixed=1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._leave.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def crypto(self) -> CallbackCrypto:
        assert self.credentials is not None
        app = self.credentials
        return CallbackCrypto(app["token"], app["encoding_aes_key"], app["corp_id"])

    def wait(self, count: int) -> list[Received]:
        """The requests, once there are so many."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.received) >= count, DEADLINE_SECONDS), self.received
        return list(self.received)

    def documents(self, count: int) -> list[str]:
        """The decrypted documents of the first requests, each with its signature checked."""
        return [self.document(received) for received in self.wait(count)]

    def document(self, received: Received) -> str:
        encrypted = ElementTree.fromstring(received.body.decode()).findtext("Encrypt") or ""
        query = received.query
        assert self.crypto.signature(query["timestamp"], query["nonce"], encrypted) == query["msg_signature"]
        return self.crypto.decrypt(encrypted)[0].decode()

    def echo(self, query: dict[str, str]) -> bytes:
        return self.crypto.decrypt(query["echostr"])[0]

    def take(self, received: Received) -> Reply:
        with self._arrived:
            self.received.append(received)
            self._arrived.notify_all()
            return self.replies.popleft() if self.replies else self.reply

    def sleep(self, seconds: float) -> None:
        self._leave.wait(seconds)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._serve(b"")

            def do_POST(self) -> None:
                self._serve(self.rfile.read(int(self.headers.get("Content-Length", 0))))

            def _serve(self, body: bytes) -> None:
                query = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
                reply = receiver.take(Received(time.monotonic(), self.command, query, dict(self.headers), body))
                receiver.sleep(reply.delay_seconds)
                self.close_connection = True
                if reply.cut:
                    return
                answer = reply.body.replace(b"ECHO", receiver.echo(query)) if reply.url_check else reply.body
                try:
                    self._write(reply, answer)
                except ConnectionError:  # the platform has had enough
                    return

            def _write(self, reply: Reply, answer: bytes) -> None:
                self.send_response(reply.status)
                for name, value in reply.headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                return

        return Handler
