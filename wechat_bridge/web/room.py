"""How much may be under way at once; who finds no room is told so at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import anyio
from anyio.to_thread import run_sync

R = TypeVar("R")


class NoRoom(Exception):
    """There is more under way than may be."""


class Room:
    """Counts requests and the bytes they have brought; runs what blocks in threads of its own. For one event loop."""

    def __init__(self, most_requests: int, most_bytes: int, threads: int) -> None:
        self._requests_left = most_requests
        self._bytes_left = most_bytes
        self._threads = anyio.CapacityLimiter(threads)

    @contextmanager
    def enter(self) -> Iterator[Place]:
        """Be one of those that are under way. Raises NoRoom."""
        if not self._requests_left:
            raise NoRoom
        self._requests_left -= 1
        place = Place(self)
        try:
            yield place
        finally:
            self._requests_left += 1
            self._bytes_left += place.taken

    def take(self, size: int) -> None:
        """Make ``size`` bytes count. Raises NoRoom."""
        if size > self._bytes_left:
            raise NoRoom
        self._bytes_left -= size

    async def run(self, function: Callable[[], R]) -> R:
        """Run what blocks. It is waited for even if nobody wants the answer any more: it may be half done."""
        return await run_sync(function, limiter=self._threads)


class Place:
    """One request's part of a room."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.taken = 0

    def take(self, size: int) -> None:
        """Make bytes count until the request has ended. Raises NoRoom."""
        self._room.take(size)
        self.taken += size
