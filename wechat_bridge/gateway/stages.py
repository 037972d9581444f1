"""What is said, counted and timed of each stage an event passes: one line with its ids, one observation."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wechat_bridge.model.event import Envelope, Event
from wechat_bridge.observe import metrics
from wechat_bridge.observe.logging import logger

log = logger(__name__)


class Timed:
    """How long a stage took so far."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the stage began."""
        return time.perf_counter() - self._began


@contextmanager
def stage(name: str) -> Iterator[Timed]:
    """Time a stage into ``message_processing_duration_seconds``."""
    timed = Timed()
    try:
        yield timed
    finally:
        metrics.stage_seconds.labels(name).observe(timed.elapsed_seconds)


def said(event: Envelope | Event, name: str, action: str, timed: Timed | None = None, **more: Any) -> None:
    """Log what a stage did with an event."""
    key = event.dedup_name if isinstance(event, Event) else ""
    took = {"processingTimeMs": round(timed.elapsed_seconds * 1000, 3)} if timed else {}
    log.info(
        "event", stage=name, action=action, messageId=event.id, eventType=event.event_type, trace_id=event.trace_id,
        **({"dedupKey": key} if key else {}), **took, **more,
    )  # fmt: skip
