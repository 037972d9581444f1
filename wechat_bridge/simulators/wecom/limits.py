"""Counting what happens within a window, and blocking for one window whoever exceeds it."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

MINUTE_SECONDS = 60.0
HOUR_SECONDS = 3_600.0
DAY_SECONDS = 86_400.0


class Limits:
    """Sliding windows by key. Who exceeds one is blocked for as long as the window is (doc 90312)."""

    def __init__(self) -> None:
        self._counted: dict[Hashable, deque[float]] = {}
        self._blocked_until: dict[Hashable, float] = {}

    def exceeded(self, key: Hashable, limit: int | None, window_seconds: float, now: float) -> bool:
        """Count one more at `now` (Unix seconds) unless that is too much; True when it is."""
        if limit is None:
            return False
        if now < self._blocked_until.get(key, 0.0):
            return True
        counted = self._counted.setdefault(key, deque())
        while counted and counted[0] <= now - window_seconds:
            counted.popleft()
        if len(counted) >= limit:
            self._blocked_until[key] = now + window_seconds
            return True
        counted.append(now)
        return False
