"""What is worth doing or saying once in a while only."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable


class Seldom:
    """Lets something happen once within ``seconds`` for each key; from any thread. Keys are few and are kept."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._last: dict[Hashable, float] = {}
        self._lock = threading.Lock()

    def may(self, key: Hashable) -> bool:
        """Whether it is time for this key; whoever hears yes does it."""
        now = self._clock()
        with self._lock:
            last = self._last.get(key)
            if last is not None and now - last < self._seconds:
                return False
            self._last[key] = now
            return True
