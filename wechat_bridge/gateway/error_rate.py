"""Which share of calls failed lately."""

from __future__ import annotations

from collections import deque

WINDOW_SECONDS = 60.0
STEP_SECONDS = 5.0
FEWEST = 20
"""Of fewer calls nothing can be said."""


class ErrorRate:
    """Counts calls of the last WINDOW_SECONDS, in steps. Not thread-safe; times are the caller's."""

    def __init__(self) -> None:
        self._steps: deque[tuple[float, int, int]] = deque()
        self._calls = self._failures = 0

    def count(self, now: float, *, is_failure: bool) -> None:
        """Count one call."""
        self._drop_old(now)
        if not self._steps or now - self._steps[-1][0] >= STEP_SECONDS:
            self._steps.append((now, 0, 0))
        began, calls, failures = self._steps[-1]
        self._steps[-1] = (began, calls + 1, failures + is_failure)
        self._calls += 1
        self._failures += is_failure

    def share(self, now: float) -> float:
        """Return the share that failed, from 0 to 1; 0 while there were too few calls."""
        self._drop_old(now)
        return self._failures / self._calls if self._calls >= FEWEST else 0.0

    def _drop_old(self, now: float) -> None:
        while self._steps and now - self._steps[0][0] >= WINDOW_SECONDS:
            _, calls, failures = self._steps.popleft()
            self._calls -= calls
            self._failures -= failures
