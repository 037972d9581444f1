"""Calls in flight: each has a deadline, and one thread shuts down the sockets of those that are past theirs.

A socket timeout bounds the wait for the next byte only, so a server that sends one byte every few seconds could hold a
thread for ever. Shutting the socket down from another thread wakes the one that waits, with an error or an end of file.
"""

from __future__ import annotations

import math
import socket
import threading
import time
from contextlib import suppress
from enum import Enum

_current = threading.local()


def current_call() -> Call | None:
    """Return the call that this thread serves, if any."""
    call: Call | None = getattr(_current, "call", None)
    return call


class Cut(Enum):
    """Why a call was ended from outside."""

    DEADLINE = "deadline"  # its total time was used up
    STOP = "stop"  # the process is ending


class Call:
    """One exchange while it runs.

    ``sent`` tells whether the request went out, ``cut`` whether it was ended from outside.
    """

    __slots__ = ("_socket", "_spare", "cut", "deadline", "sent")

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.sent = False
        self.cut: Cut | None = None
        self._socket: socket.socket | None = None
        self._spare: socket.socket | None = None

    def use(self, sock: socket.socket) -> None:
        """Say which socket the call waits on from now. If the call was cut before it had one, this one is shut down."""
        self._socket = sock
        self.close()
        if self.cut is not None:
            _shut_down(sock)

    def use_copy(self, sock: socket.socket) -> None:
        """Like :meth:`use`, for a socket about to be wrapped by TLS, which takes the descriptor away from ``sock``."""
        copy = sock.dup()
        self.use(copy)
        self._spare = copy

    def end(self, cut: Cut) -> None:
        """End the call from another thread."""
        self.cut = cut
        if self._socket is not None:
            _shut_down(self._socket)

    def close(self) -> None:
        """Give back the copy of the socket, if there is one; the connection itself belongs to the pool."""
        if self._spare is not None:
            self._spare.close()
            self._spare = None


def _shut_down(sock: socket.socket) -> None:
    """End both directions without closing. The method of ``socket``: that of ``SSLSocket`` drops state still in use."""
    with suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


class InFlight:
    """The calls that run now, and the thread that watches their deadlines.

    The thread starts with the first call and sleeps until the earliest deadline, or for as long as nothing runs.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._calls: set[Call] = set()
        self._wakes_at = math.inf
        self._thread: threading.Thread | None = None
        self._closed = False

    def enter(self, call: Call) -> None:
        """Watch a call, and make it the current one of this thread."""
        _current.call = call
        with self._changed:
            self._calls.add(call)
            if call.deadline < self._wakes_at:
                self._wakes_at = call.deadline
                self._wake()

    def leave(self, call: Call) -> None:
        """Watch the call no longer."""
        _current.call = None
        with self._changed:
            self._calls.discard(call)
        call.close()

    def cut_all(self) -> None:
        """End every call that runs now."""
        with self._changed:
            for call in list(self._calls):
                call.end(Cut.STOP)
            self._calls.clear()

    def close(self) -> None:
        """End the watching thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="http-deadlines", daemon=True)
            self._thread.start()
        self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                for call in [call for call in self._calls if call.deadline <= now]:
                    call.end(Cut.DEADLINE)
                    self._calls.discard(call)
                self._wakes_at = min((call.deadline for call in self._calls), default=math.inf)
                self._changed.wait(None if self._wakes_at == math.inf else self._wakes_at - now)
