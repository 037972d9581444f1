"""A worker in a process of its own that claims events, with a clock that may be wrong."""

from __future__ import annotations

import time
from dataclasses import dataclass

from wechat_bridge.store import broker
from wechat_bridge.store.event_claims import Claimed, EventClaims

WITHIN_SECONDS = 5.0


@dataclass(frozen=True)
class Job:
    """What to claim, as whom; the worker's clock is wrong by so many seconds."""

    url: str
    keys: tuple[str, ...]
    token: str
    clock_shift_seconds: float = 0.0
    claim_seconds: float = 30.0


def claim(job: Job) -> list[Claimed]:
    """Claim all at once."""
    right = time.time
    time.time = lambda: right() + job.clock_shift_seconds
    try:
        with broker.connect_limited(job.url) as client:
            return EventClaims(client).claim(job.keys, job.token, job.claim_seconds, WITHIN_SECONDS)
    finally:
        time.time = right
