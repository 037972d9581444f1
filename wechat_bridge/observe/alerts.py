"""Things an operator should know: one record per cause and subject when it begins, and one when it is over.

While it lasts it is said again once in a while, with how often it was raised since; never once per message.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from wechat_bridge.observe import metrics
from wechat_bridge.observe.logging import logger

log = logger(__name__)

AGAIN_SECONDS = 300.0


class Alerts:
    """What one process has reported and not yet taken back."""

    def __init__(self, again_seconds: float = AGAIN_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._again_seconds = again_seconds
        self._clock = clock
        self._open: dict[tuple[str, str], tuple[float, int]] = {}
        self._lock = threading.Lock()

    def raise_(
        self, cause: str, subject: str, advice: str, *, is_critical: bool = False, again_seconds: float | None = None
    ) -> None:
        """Report that ``cause`` began for ``subject``, or goes on and was last reported ``again_seconds`` ago.

        A caller who keeps count elsewhere says 0: then it is reported each time.
        """
        count = self._note(cause, subject, self._again_seconds if again_seconds is None else again_seconds)
        if count:
            metrics.alerts_total.labels(cause).inc()
            say = log.critical if is_critical else log.error
            say("alert_raised", cause=cause, subject=subject, advice=advice, count=count)

    def clear(self, cause: str, subject: str) -> None:
        """Report that it is over, if this process had reported that it began."""
        with self._lock:
            known = self._open.pop((cause, subject), None)
        if known:
            log.warning("alert_cleared", cause=cause, subject=subject)

    def _note(self, cause: str, subject: str, again_seconds: float) -> int:
        """Return how often it was raised since it was last reported, or 0 when it is not to be reported now."""
        now = self._clock()
        with self._lock:
            said_at, silent = self._open.get((cause, subject), (None, 0))
            if said_at is not None and now - said_at < again_seconds:
                self._open[cause, subject] = (said_at, silent + 1)
                return 0
            self._open[cause, subject] = (now, 0)
            return silent + 1


_process = Alerts()
raise_ = _process.raise_
clear = _process.clear
