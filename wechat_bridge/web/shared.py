"""One reading for everybody who asks at about the same time."""

from __future__ import annotations

import asyncio
import time

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.health.readings import Readings, read

LIFETIME_SECONDS = 1.0


class SharedReadings:
    """However many ask, the ledger is read once a second at most, by one thread, and the event loop goes on."""

    def __init__(self, bridge: Bridge) -> None:
        self.bridge = bridge
        self._lock = asyncio.Lock()
        self._readings: Readings | None = None
        self._read_at = 0.0

    async def get(self) -> Readings:
        """Return readings that are at most a second old."""
        async with self._lock:
            if self._readings is None or time.monotonic() - self._read_at > LIFETIME_SECONDS:
                self._readings = await asyncio.to_thread(read, self.bridge)
                self._read_at = time.monotonic()
            return self._readings
