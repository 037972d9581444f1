"""In which processes a version is in force."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.worker import Worker


@dataclass(frozen=True)
class Uptake:
    """``count`` processes live; in those ``behind`` an earlier version is in force."""

    count: int
    behind: tuple[Worker, ...]


def uptake_of(bridge: Bridge, number: int) -> Uptake:
    """Return where a version is in force. Raises LedgerUnavailable."""
    since = bridge.clock.now() - timedelta(seconds=bridge.settings.owner.dead_after_seconds)
    alive = [worker for worker in bridge.workers.all() if worker.seen_at >= since]
    return Uptake(len(alive), tuple(worker for worker in alive if worker.configuration < number))
