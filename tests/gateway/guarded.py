"""A guard with a clock, a rule and a Redis that a test moves."""

from __future__ import annotations

from prometheus_client import REGISTRY

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.gateway.degrade import Guard
from wechat_bridge.model.event_rules import DegradeRule

RULE = DegradeRule(failures=5, open_seconds=10.0, alarm_seconds=300.0, error_rate=0.2)


class Redis:
    """What the guard calls: counts, and fails on demand."""

    def __init__(self) -> None:
        self.calls = 0
        self.is_away = False

    def __call__(self) -> str:
        self.calls += 1
        if self.is_away:
            raise BrokerUnavailable("Redis: TimeoutError")
        return "answer"


class Stage:
    """A guard, the clock and the rule that a test moves, and a Redis."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.rule = RULE
        self.redis = Redis()
        self.guard = Guard(lambda: self.rule, lambda: self.now)

    def event(self) -> bool:
        """One event; whether Redis answered."""
        try:
            return self.guard.call(self.redis) == "answer"
        except BrokerUnavailable as error:
            self.guard.unguarded(1, 0, error)
            return False

    def events(self, count: int) -> int:
        """So many events; for how many Redis answered."""
        return sum(self.event() for _ in range(count))

    def open(self) -> None:
        """Fail until Redis is left alone."""
        self.redis.is_away = True
        self.events(RULE.failures)
        assert self.guard.is_open


def unguarded(outcome: str) -> float:
    """How many events met no Redis so far, and passed or were refused."""
    return REGISTRY.get_sample_value("wechat_bridge_gateway_unguarded_total", {"outcome": outcome}) or 0
