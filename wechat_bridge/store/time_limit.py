"""A Redis client that waits only as long as its caller allows in all: for a connection, the handshake and the answer.

Timeouts of sockets alone count each step anew, so that one call could take several of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

import redis

UNLIMITED_SECONDS = 5.0
"""What a call may take that nobody has limited."""

_deadline: ContextVar[float | None] = ContextVar("redis_deadline", default=None)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Let every call within the block, on a client with connections of this module, end after ``seconds`` in all."""
    before = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(before)


def left_seconds() -> float:
    """Return what is left of the caller's time, at least 0."""
    deadline = _deadline.get()
    return UNLIMITED_SECONDS if deadline is None else max(0.0, deadline - time.monotonic())


class _Socket:
    """A socket of the driver that waits no longer than the caller may; also for one that gets a byte at a time."""

    def __init__(self, connected: Any) -> None:
        self._connected = connected
        self._timeout: float | None = connected.gettimeout()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connected, name)

    def settimeout(self, seconds: float | None) -> None:
        """The driver's own timeout counts where it is shorter; 0 looks whether there is something without waiting."""
        self._timeout = seconds
        self._connected.settimeout(seconds)

    def recv(self, *args: Any) -> Any:
        self._limit()
        return self._connected.recv(*args)

    def recv_into(self, *args: Any) -> Any:
        self._limit()
        return self._connected.recv_into(*args)

    def sendall(self, *args: Any) -> Any:
        self._limit()
        return self._connected.sendall(*args)

    def _limit(self) -> None:
        if self._timeout != 0:
            left = _some_left()
            self._connected.settimeout(left if self._timeout is None else min(left, self._timeout))


class _Limited:
    """Goes before a class of the driver."""

    def _connect(self) -> Any:
        driver, connection = cast("Any", super()), cast("Any", self)
        connection.socket_connect_timeout = _some_left()
        connection.socket_timeout = None
        return _Socket(driver._connect())


def _some_left() -> float:
    """Return what is left, more than 0. Raises TimeoutError as a socket does, so that the driver gives it up."""
    left = left_seconds()
    if not left:
        raise TimeoutError("no time is left")
    return left


class LimitedConnection(_Limited, redis.Connection):
    """Over TCP."""


class LimitedSslConnection(_Limited, redis.SSLConnection):
    """Over TLS."""


class LimitedUnixConnection(_Limited, redis.UnixDomainSocketConnection):
    """Over a socket of this machine."""


class LimitedPool(redis.BlockingConnectionPool):
    """Lets a caller wait for a connection no longer than it may."""

    @property
    def timeout(self) -> float:
        """What is left of the caller's time."""
        return left_seconds()

    @timeout.setter
    def timeout(self, _: float) -> None:
        """The driver sets one for all callers; each has its own."""


CONNECTIONS: dict[str, type[redis.Connection] | type[redis.UnixDomainSocketConnection]] = {
    "rediss": LimitedSslConnection,
    "unix": LimitedUnixConnection,
}
"""By the scheme of the URL; all others go over TCP."""
