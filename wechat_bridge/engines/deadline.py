"""Connections on which one exchange has a deadline: no wait for a byte outlasts it, however the bytes drip.

A socket timeout bounds one wait only. Here it is set anew before every read, to what is left of the whole exchange or
to the longest silence, whichever is less; so no other thread has to watch.
"""

from __future__ import annotations

import io
import os
import socket
import threading
import time
from http.client import HTTPResponse
from pathlib import Path
from ssl import SSLContext
from typing import Any, Literal, cast

from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util.ssl_ import create_urllib3_context


class DeadlinePassed(TimeoutError):
    """The whole time of an exchange is used up."""


class Deadline:
    """When an exchange must be over, and how long the other side may be silent before: None, as long as it likes.

    ``has_begun`` says that the other side may have got something of the request: before, there was no connection.
    """

    def __init__(self, total_seconds: float, silence_seconds: float | None = None) -> None:
        self.has_begun = False
        self.total_seconds = total_seconds
        self.silence_seconds = total_seconds if silence_seconds is None else silence_seconds
        self._ends_at = time.monotonic() + total_seconds

    @property
    def is_over(self) -> bool:
        """Whether the whole time is used up."""
        return time.monotonic() >= self._ends_at

    def left_seconds(self) -> float:
        """Return what is left of the whole. Raises DeadlinePassed."""
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise DeadlinePassed
        return left

    def wait_seconds(self) -> float:
        """Return how long to wait for the next byte. Raises DeadlinePassed."""
        return min(self.left_seconds(), self.silence_seconds)


_current = threading.local()


def use_deadline(deadline: Deadline | None) -> None:
    """Say which deadline the exchange of this thread has."""
    _current.deadline = deadline


class _PatientReader(io.RawIOBase):
    """The reading side of a socket, each read bounded."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._deadline = deadline

    def readable(self) -> bool:
        """Tell the buffer above that it may read."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read what is there, waiting no longer than allowed."""
        self._sock.settimeout(self._deadline.wait_seconds())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Let go of the socket."""
        self._raw.close()
        super().close()


class _PatientSocket:
    """A socket as a response sees it: it asks for one thing only."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def makefile(self, mode: Literal["rb"]) -> io.BufferedIOBase:
        deadline: Deadline | None = getattr(_current, "deadline", None)
        if deadline is None:  # a proxy's answer to CONNECT is read while connecting, under the connect timeout
            return self._sock.makefile(mode)
        return io.BufferedReader(_PatientReader(self._sock, deadline))


class _PatientResponse(HTTPResponse):
    """A response whose every read is bounded."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(cast("socket.socket", _PatientSocket(sock)), *args, **kwargs)


class _PatientConnection(HTTPConnection):
    """A connection that also writes within the deadline."""

    response_class = _PatientResponse

    def request(self, *args: Any, **kwargs: Any) -> None:
        """Send the request; opens the connection first where it is not open yet."""
        if self.sock is None:
            self.connect()
        deadline: Deadline | None = getattr(_current, "deadline", None)
        if deadline is not None:
            self.timeout = deadline.left_seconds()  # until here that of connecting, under which urllib3 would write
            deadline.has_begun = True
        super().request(*args, **kwargs)


class _PatientTlsConnection(_PatientConnection, HTTPSConnection):
    """The same over TLS."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _PatientConnection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _PatientTlsConnection


class DeadlineAdapter(HTTPAdapter):
    """The adapter of requests on such connections, with one TLS context for all: to load certificates costs 20 ms."""

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: Any) -> None:
        """Make the pools."""
        self._tls = _tls_context()
        super().init_poolmanager(connections, maxsize, block, ssl_context=self._tls, **pool_kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}

    def proxy_manager_for(self, proxy: str, **proxy_kwargs: Any) -> Any:
        """Make the pools behind a proxy."""
        manager = super().proxy_manager_for(proxy, ssl_context=self._tls, **proxy_kwargs)
        manager.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}
        return manager

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """Do nothing: the TLS context verifies, and has its certificates loaded already."""


def _tls_context() -> SSLContext:
    context = create_urllib3_context()
    bundle = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or DEFAULT_CA_BUNDLE_PATH
    if Path(bundle).is_dir():
        context.load_verify_locations(capath=bundle)
    else:
        context.load_verify_locations(cafile=bundle)
    return context
