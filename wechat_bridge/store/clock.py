"""The ledger's clock. "Now" is what MongoDB's server says, so that hosts with wrong clocks agree."""

from __future__ import annotations

import threading
import time
from collections import deque
from datetime import UTC, datetime, timedelta
from typing import Any

from pymongo import MongoClient

from wechat_bridge.store.ledger import ledger_call

BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def boot_seconds() -> float:
    """Return seconds of a clock that never jumps and goes on while the machine sleeps (where the system has one)."""
    return time.clock_gettime(BOOT_CLOCK)


JUMP_SECONDS = 2.0
"""Further from the estimate than this, beyond what a slow answer explains, another clock answers."""

SAMPLES = 5
"""Measurements remembered. The quickest of them counts: a slow answer says little about when it was given."""


class LedgerClock:
    """An estimate of the server's time, measured from its answers and carried on by the boot clock.

    ``jumps`` counts how often the server's clock was found set anew: after a failover another server's clock counts.
    """

    def __init__(self, client: MongoClient[dict[str, Any]]) -> None:
        self._client = client
        self.jumps = 0
        self._samples: deque[tuple[float, float]] = deque(maxlen=SAMPLES)
        self._offset: float | None = None
        self._lock = threading.Lock()
        self._samples_lock = threading.Lock()

    @ledger_call
    def measure(self) -> None:
        """Ask the server for its time. Raises LedgerUnavailable."""
        before = boot_seconds()
        # Without codec options a command answers with times that know no zone and would be read as this host's.
        answer = self._client.admin.command("hello", codec_options=self._client.codec_options)
        after = boot_seconds()
        self._learn(after - before, answer["localTime"].timestamp() - (before + after) / 2)

    def _learn(self, elapsed_seconds: float, offset: float) -> None:
        with self._samples_lock:
            if self._offset is not None and abs(offset - self._offset) > JUMP_SECONDS + elapsed_seconds:
                self._samples.clear()
                self.jumps += 1
            self._samples.append((elapsed_seconds, offset))
            self._offset = min(self._samples)[1]

    def now(self) -> datetime:
        """Return the server's time, in UTC, to the millisecond that MongoDB keeps. Raises LedgerUnavailable."""
        if self._offset is None:
            with self._lock:
                if self._offset is None:
                    self.measure()
        seconds = boot_seconds() + (self._offset or 0.0)
        return datetime.fromtimestamp(int(seconds * 1000) / 1000, UTC)

    def after(self, seconds: float) -> datetime:
        """Return the server's time ``seconds`` from now."""
        return self.now() + timedelta(seconds=seconds)
