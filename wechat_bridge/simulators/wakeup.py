"""Waiting for a change of the simulated world without looking again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Wakeup:
    """Something that changes now and then, and those who wait for it."""

    def __init__(self) -> None:
        self._sleepers: set[asyncio.Future[None]] = set()

    def notify(self) -> None:
        """Wake everyone who waits now."""
        for sleeper in self._sleepers:
            wake(sleeper)

    async def sleep(self, seconds: float) -> None:
        """Return at the next `notify`, or after this time."""
        loop = asyncio.get_running_loop()
        sleeper: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(seconds, wake, sleeper)
        self._sleepers.add(sleeper)
        try:
            await sleeper
        finally:
            timer.cancel()
            self._sleepers.discard(sleeper)

    async def wait_until(self, holds: Callable[[], bool], timeout_seconds: float) -> bool:
        """Wait until `holds()`; False when the time ran out first."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_seconds
        while not holds():
            remaining_seconds = deadline - loop.time()
            if remaining_seconds <= 0:
                return False
            await self.sleep(remaining_seconds)
        return True


def wake(sleeper: asyncio.Future[None]) -> None:
    """Resolve a future that may be resolved already."""
    if not sleeper.done():
        sleeper.set_result(None)
