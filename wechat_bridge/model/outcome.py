"""What follows from an attempt: a value, decided by one pure function."""

from __future__ import annotations

import random
from dataclasses import dataclass

from wechat_bridge.errors import BridgeError, RefusedError, TransientError


@dataclass(frozen=True)
class Done:
    """Nothing is left to do here."""


@dataclass(frozen=True)
class RetryIn:
    """Try the same again after ``seconds``."""

    seconds: float


@dataclass(frozen=True)
class Park:
    """Keep it and wait for somebody: a person's next message, or a login."""

    reason: str


@dataclass(frozen=True)
class GiveUp:
    """It becomes a dead letter."""

    reason: str


Outcome = Done | RetryIn | Park | GiveUp

MOST_DOUBLINGS = 30
"""More would only overflow: the cap has been reached long before."""


@dataclass(frozen=True)
class RetryBudget:
    """How often and how fast to try again: ``max_retries`` after the first attempt, exponential with full jitter."""

    max_retries: int = 3
    base_seconds: float = 2.0
    cap_seconds: float = 300.0


def decide(error: BridgeError, attempt: int, budget: RetryBudget) -> RetryIn | Park | GiveUp:
    """Map an error of attempt number ``attempt`` (from 1) to what happens next.

    What the other side asked for (``retry_after_seconds``) is a lower bound of the delay. The jitter is full, so that
    turns that failed together do not come back together.
    """
    if isinstance(error, RefusedError):
        return Park(error.reason)
    if not isinstance(error, TransientError):
        return GiveUp(f"{type(error).__name__}: {error}")
    if attempt > budget.max_retries:
        return GiveUp(f"{type(error).__name__} after {attempt} attempts: {error}")
    ceiling = min(budget.cap_seconds, budget.base_seconds * 2.0 ** min(attempt - 1, MOST_DOUBLINGS))
    delay = random.uniform(ceiling / 2, ceiling) if attempt == 1 else random.uniform(0.2, ceiling)
    return RetryIn(max(delay, error.retry_after_seconds or 0.0))
