"""A real HTTP server on 127.0.0.1 that answers as a test says: whole, in drips, late, cut off, or not at all."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True)
class Received:
    """A request as it came in; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Exchange:
    """The server's side of one request."""

    request: Received
    connection: socket.socket
    closing: threading.Event = field(repr=False)

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def answer(self, body: bytes, status: str = "200 OK", *headers: str) -> None:
        head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers])
        self.send(head.encode() + b"\r\n\r\n" + body)

    def answer_json(self, value: Any) -> None:
        self.answer(json.dumps(value).encode())

    def drip(self, pieces: Iterable[bytes], every_seconds: float = 0.05) -> None:
        """Send piece after piece, until the client has gone or the server closes."""
        for piece in pieces:
            if self.closing.wait(every_seconds):
                return
            self.send(piece)

    def hold(self) -> None:
        """Say nothing until the server closes."""
        self.closing.wait(60)

    def cut(self) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)


Script = Callable[[Exchange], None]


class ScriptedServer:
    """Serves every request of every connection with the current ``script``; keeps what it received."""

    def __init__(self, script: Script, tls: ssl.SSLContext | None = None) -> None:
        self.script = script
        self.received: list[Received] = []
        self.connections_made = 0
        self.connections_open = 0
        self._tls = tls
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        _shut(self._listener)
        self._threads[0].join()
        self._listener.close()
        for connection in self._sockets:
            _shut(connection)
        for thread in self._threads:
            thread.join()

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections_made += 1
            self.connections_open += 1
            self._sockets.append(connection)
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with self._wrapped(connection) as wrapped:
            try:
                while (request := _read_request(wrapped)) is not None:
                    self.received.append(request)
                    self.script(Exchange(request, wrapped, self._closing))
            except OSError:
                return
            finally:
                self.connections_open -= 1

    def _wrapped(self, connection: socket.socket) -> socket.socket:
        if self._tls is None:
            return connection
        wrapped = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        self._sockets.append(wrapped)
        return wrapped


class SilentHandshakeServer(ScriptedServer):
    """Speaks no TLS: runs its script as soon as a client begins a handshake."""

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65536)
                self.script(Exchange(Received("", "", {}, b""), connection, self._closing))
            except OSError:
                return


def _shut(sock: socket.socket) -> None:
    try:
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
    except OSError:
        return


def _read_request(connection: socket.socket) -> Received | None:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        piece = connection.recv(65536)
        if not piece:
            return None
        body += piece
    return Received(method, path, headers, body)
