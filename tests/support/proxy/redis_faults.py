"""Redis that is up but not usable: it loads its data, or it is the old primary of a failover.

The proxy does not answer itself. It replaces a command by a script that returns the error, so that the real server
answers, and in order, whatever was sent in one go.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import redis

from tests.support.proxy.tcp import Connection, Filter, Proxy

LOADING = b"LOADING Redis is loading the dataset in memory"
READONLY = b"READONLY You can't write against a read only replica."
SCRIPTS = {b"eval", b"evalsha"}
"""All scripts of the bridge and of kombu write; Redis 6 does not say so of EVAL itself."""


class Mood(Enum):
    """What the server says of itself."""

    WELL = "well"
    LOADING = "loading"  # only what Redis allows while it loads
    READONLY = "read only"  # writes are refused on connections made before; new ones reach the new primary


class RedisFaults(Filter):
    """Refuses commands by their flags, as the server itself names them."""

    def __init__(self, port: int) -> None:
        with redis.Redis(port=port) as client:
            known: dict[str, dict[str, Any]] = client.command()
        self._writes = {name.encode() for name, row in known.items() if "write" in row["flags"]} | SCRIPTS
        self._while_loading = {name.encode() for name, row in known.items() if "loading" in row["flags"]}
        self._mood = Mood.WELL
        self._last_old = -1
        self.refused = 0

    def request(self, connection: Connection, data: bytes) -> bytes:
        """Replace what is refused now."""
        connection.requests += data
        return b"".join(self._judged(connection, command) for command in _whole_commands(connection.requests))

    def be(self, mood: Mood, last_old: int = -1) -> None:
        """Change the mood; connections up to the number ``last_old`` are old ones."""
        self._mood, self._last_old = mood, last_old

    def _judged(self, connection: Connection, command: bytes) -> bytes:
        name = command.split(b"\r\n", 3)[2].lower()
        if self._mood is Mood.LOADING and name not in self._while_loading:
            return self._refusal(LOADING)
        if self._mood is Mood.READONLY and connection.number <= self._last_old and name in self._writes:
            return self._refusal(READONLY)
        return command

    def _refusal(self, error: bytes) -> bytes:
        self.refused += 1
        return _encoded(b"EVAL", b"return redis.error_reply(ARGV[1])", b"0", error)


class RedisProxy(Proxy):
    """A proxy before a Redis that runs now and may be restarted later."""

    def __init__(self, target_port: int) -> None:
        self.faults = RedisFaults(target_port)
        super().__init__(target_port, self.faults)

    def url(self, database: int = 0) -> str:
        """Where clients find it."""
        return f"redis://127.0.0.1:{self.port}/{database}"

    def be(self, mood: Mood) -> None:
        """Change the mood; connections that are open now are old."""
        self.faults.be(mood, max((connection.number for connection in list(self._connections)), default=-1))


def _whole_commands(buffer: bytearray) -> list[bytes]:
    """Take the commands that have arrived whole from the buffer."""
    found = []
    while end := _end_of_command(buffer):
        found.append(bytes(buffer[:end]))
        del buffer[:end]
    return found


def _end_of_command(buffer: bytearray) -> int:
    """Return where the first command ends, or 0 when it is not whole."""
    line_end = buffer.find(b"\r\n")
    if line_end < 0:
        return 0
    position = line_end + 2
    for _ in range(int(buffer[1:line_end])):
        line_end = buffer.find(b"\r\n", position)
        if line_end < 0:
            return 0
        position = line_end + 2 + int(buffer[position + 1 : line_end]) + 2
    return position if position <= len(buffer) else 0


def _encoded(*words: bytes) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
