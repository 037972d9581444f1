"""A connection to MongoDB that breaks after the server has done what it was asked and before it could say so."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from typing import Any

import bson

from tests.support.proxy.tcp import Connection, Cut, Filter, Proxy

HEADER = struct.Struct("<iiii")
OP_MSG = 2013
BODY_SECTION = 0
DOCUMENTS_SECTION = 1


class MongoFaults(Filter):
    """Cuts the connection in place of the reply to writes that were asked to go unanswered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._collection = ""
        self._left = 0
        self._doomed: set[tuple[int, int]] = set()
        self.cut = 0

    def leave_unanswered(self, collection: str, times: int = 1) -> None:
        """Let the next writes to a collection ("" for any) be done without an answer."""
        with self._lock:
            self._collection, self._left = collection, times

    def request(self, connection: Connection, data: bytes) -> bytes:
        """Note which replies are not to arrive."""
        connection.requests += data
        for message in _whole_messages(connection.requests):
            if self._is_doomed(message):
                self._doomed.add((connection.number, HEADER.unpack_from(message)[1]))
        return data

    def reply(self, connection: Connection, data: bytes) -> bytes:
        """Pass on whole replies, up to one that is not to arrive."""
        connection.replies += data
        passed = b""
        for message in _whole_messages(connection.replies):
            if (connection.number, HEADER.unpack_from(message)[2]) in self._doomed:
                self.cut += 1
                raise Cut
            passed += message
        return passed

    def _is_doomed(self, message: bytes) -> bool:
        command = _command(message)
        target = command.get("insert") or command.get("update")
        with self._lock:
            if not target or not self._left or self._collection not in {"", target}:
                return False
            self._left -= 1
            return True


class MongoProxy(Proxy):
    """A proxy before a MongoDB-protocol server."""

    def __init__(self, target_port: int) -> None:
        self.faults = MongoFaults()
        super().__init__(target_port, self.faults)

    def url(self, database: str, *, retry_writes: bool = False) -> str:
        """Where clients find it. Direct: what the server says of its own address would lead around the proxy.

        They look every half second whether it is well again; a primary would tell them.
        """
        options = f"directConnection=true&heartbeatFrequencyMS=500&retryWrites={str(retry_writes).lower()}"
        return f"mongodb://127.0.0.1:{self.port}/{database}?{options}"


def _whole_messages(buffer: bytearray) -> Iterator[bytes]:
    """Take the messages that have arrived whole from the buffer."""
    while len(buffer) >= HEADER.size and len(buffer) >= (length := HEADER.unpack_from(buffer)[0]):
        message = bytes(buffer[:length])
        del buffer[:length]
        yield message


def _command(message: bytes) -> dict[str, Any]:
    """Return the body of a message, or nothing for another kind of message."""
    position = HEADER.size + 4
    if HEADER.unpack_from(message)[3] != OP_MSG:
        return {}
    while message[position] == DOCUMENTS_SECTION:
        position += 1 + struct.unpack_from("<i", message, position + 1)[0]
    length = struct.unpack_from("<i", message, position + 1)[0]
    return dict(bson.decode(message[position + 1 : position + 1 + length]))
