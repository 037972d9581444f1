"""Things an operator should know: one record per cause and subject while it lasts, and one when it is over."""

from __future__ import annotations

import threading

from wechat_bridge.observe import metrics
from wechat_bridge.observe.logging import logger

log = logger(__name__)

_open: set[tuple[str, str]] = set()
_lock = threading.Lock()


def raise_(cause: str, subject: str, advice: str) -> None:
    """Report that ``cause`` began for ``subject``; says nothing while this process has it open already."""
    with _lock:
        known = (cause, subject) in _open
        _open.add((cause, subject))
    if not known:
        metrics.alerts_total.labels(cause).inc()
        log.error("alert_raised", cause=cause, subject=subject, advice=advice)


def clear(cause: str, subject: str) -> None:
    """Report that it is over, if this process had reported that it began."""
    with _lock:
        known = (cause, subject) in _open
        _open.discard((cause, subject))
    if known:
        log.warning("alert_cleared", cause=cause, subject=subject)
