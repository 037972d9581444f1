"""Leave Redis alone while it does not answer, and tell somebody: once, with a count, not once per event."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.gateway.error_rate import ErrorRate
from wechat_bridge.model.event_rules import DegradeRule
from wechat_bridge.observe import alerts, metrics
from wechat_bridge.observe.logging import logger

log = logger(__name__)

R = TypeVar("R")

SUBJECT = "redis"
AWAY = "event_dedupe_away"
FAILING = "event_redis_errors"
RECOVERED_SHARE = 0.5
"""Below this share of the rate that is an alert it has recovered; between the two it may go either way."""


@dataclass(frozen=True)
class _Entry:
    """A call that was let through; what it found counts only if the breaker still stands as it did."""

    generation: int
    is_probe: bool


class Guard:
    """A circuit breaker around the calls to Redis of one process. Thread-safe; it never waits for Redis itself.

    ``rule`` gives the rule in force, which may change at any time.
    """

    def __init__(self, rule: Callable[[], DegradeRule], clock: Callable[[], float] = time.monotonic) -> None:
        self._rule = rule
        self._clock = clock
        self._lock = threading.Lock()
        self._generation = 0
        self._open_until: float | None = None
        self._is_probed = False
        self._failures_in_a_row = 0
        self._rate = ErrorRate()
        self._is_rate_told = False
        self._said_at: float | None = None
        self._is_said = False
        self._unsaid = 0
        metrics.gateway_breaker_open.set(0)

    @property
    def timeout_seconds(self) -> float:
        """What one call may take in all."""
        return self._rule().timeout_ms / 1000

    @property
    def is_open(self) -> bool:
        """Whether Redis is left alone."""
        return self._open_until is not None

    def call(self, act: Callable[[], R]) -> R:
        """Call Redis, unless it is left alone. Raises BrokerUnavailable, at once in that case."""
        entry = self._enter()
        works: bool | None = None
        try:
            found = act()
            works = True
        except BrokerUnavailable:
            works = False
            raise
        finally:
            self._leave(entry, works)
        return found

    def unguarded(self, passed: int, refused: int, error: BrokerUnavailable) -> None:
        """Count events that met no Redis, by what their type makes of it, and say so once in a while."""
        metrics.gateway_unguarded_total.labels("passed").inc(passed)
        metrics.gateway_unguarded_total.labels("refused").inc(refused)
        now = self._clock()
        with self._lock:
            self._unsaid += passed + refused
            if self._said_at is not None and now - self._said_at < self._rule().alarm_seconds:
                return
            count, self._unsaid, self._said_at, self._is_said = self._unsaid, 0, now, True
        log.error("event_dedupe_away", stage="deduplication", count=count, error=str(error))
        advice = f"{count} events met no Redis and went on, or were refused, as their types say; look after Redis"
        alerts.raise_(AWAY, SUBJECT, advice, again_seconds=0)

    def _enter(self) -> _Entry:
        now = self._clock()
        with self._lock:
            if self._open_until is None:
                return _Entry(self._generation, is_probe=False)
            if not self._is_probed and now >= self._open_until:
                self._is_probed = True
                return _Entry(self._generation, is_probe=True)
            self._rate.count(now, is_failure=True)
        raise BrokerUnavailable("Redis: left alone for a while, it did not answer")

    def _leave(self, entry: _Entry, works: bool | None) -> None:
        """Note what a call found; None: nothing, it ended for a reason of its own."""
        now = self._clock()
        with self._lock:
            self._is_probed = self._is_probed and not entry.is_probe
            if works is None:
                return
            self._rate.count(now, is_failure=not works)
            if entry.generation == self._generation:
                self._judge(now, works)
            has_ended = self._is_said and works and not self.is_open
            self._is_said = self._is_said and not has_ended
            told = self._turn_of_rate(now)
        self._tell(has_ended, told)

    def _judge(self, now: float, works: bool) -> None:
        self._failures_in_a_row = 0 if works else self._failures_in_a_row + 1
        was_open = self.is_open
        if works:
            self._open_until = None
        elif was_open or self._failures_in_a_row >= self._rule().failures:
            self._open_until = now + self._rule().open_seconds
        if was_open != self.is_open:
            self._generation += 1
            metrics.gateway_breaker_open.set(int(self.is_open))

    def _turn_of_rate(self, now: float) -> bool | None:
        """Return True when the rate has become an alert, False when it is none any more, None when nothing changed."""
        share, limit = self._rate.share(now), self._rule().error_rate
        if not self._is_rate_told and share >= limit:
            self._is_rate_told = True
            return True
        if self._is_rate_told and not self.is_open and share < limit * RECOVERED_SHARE:
            self._is_rate_told = False
            return False
        return None

    def _tell(self, has_ended: bool, rate_turned: bool | None) -> None:
        if has_ended:
            alerts.clear(AWAY, SUBJECT)
        if rate_turned:
            alerts.raise_(FAILING, SUBJECT, "many calls to Redis fail: look after Redis and the way to it")
        elif rate_turned is False:
            alerts.clear(FAILING, SUBJECT)
