"""A TCP proxy on 127.0.0.1 whose filter sees, and may change or cut, what goes through."""

from __future__ import annotations

import contextlib
import socket
import threading
from dataclasses import dataclass, field
from itertools import count
from types import TracebackType
from typing import Self

CONNECT_SECONDS = 5.0
_numbers = count()


@dataclass(eq=False)
class Connection:
    """One client, and the connection to the server that was made for it."""

    client: socket.socket
    server: socket.socket
    number: int = field(default_factory=lambda: next(_numbers))
    requests: bytearray = field(default_factory=bytearray)
    replies: bytearray = field(default_factory=bytearray)

    def cut(self) -> None:
        """Reset both sides."""
        for side in (self.client, self.server):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)


class Cut(Exception):
    """Raised by a filter: the connection ends here, and what is in hand is not passed on."""


class Filter:
    """Passes everything on. Subclasses find what is not yet whole in the buffers of the connection."""

    def request(self, connection: Connection, data: bytes) -> bytes:
        """Return what the server gets. Raises Cut."""
        return data

    def reply(self, connection: Connection, data: bytes) -> bytes:
        """Return what the client gets. Raises Cut."""
        return data


class Proxy:
    """Listens on a port of its own; usable as a context manager. A server that is away is a connection that ends."""

    def __init__(self, target_port: int, filter_: Filter) -> None:
        self._target_port = target_port
        self._filter = filter_
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._connections: set[Connection] = set()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, name="proxy", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut_all()

    def cut_all(self) -> int:
        """Reset every connection; return how many there were."""
        found = list(self._connections)
        for connection in found:
            connection.cut()
        return len(found)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), name="proxied", daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._target_port), CONNECT_SECONDS)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        for side in (client, server):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(client, server)
        self._connections.add(connection)
        back = threading.Thread(target=self._pass_back, args=(connection,), name="proxied-back", daemon=True)
        back.start()
        self._pass_on(connection)
        back.join()
        self._connections.discard(connection)
        client.close()
        server.close()

    def _pass_on(self, connection: Connection) -> None:
        with contextlib.suppress(OSError, Cut):
            while data := connection.client.recv(65_536):
                connection.server.sendall(self._filter.request(connection, data))
        connection.cut()

    def _pass_back(self, connection: Connection) -> None:
        with contextlib.suppress(OSError, Cut):
            while data := connection.server.recv(65_536):
                connection.client.sendall(self._filter.reply(connection, data))
        connection.cut()
