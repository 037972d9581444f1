"""The safety net under the gateway's doorbells: ring again whatever is overdue, take over from dead owners."""

from __future__ import annotations

import threading
import time

from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.dispatch import close
from wechat_bridge.gateway.failure import retry_rule
from wechat_bridge.gateway.go_on import arm, ring_dead, ring_dispatch, ring_window
from wechat_bridge.gateway.keep import drain
from wechat_bridge.gateway.retention import EventRetention
from wechat_bridge.model.event import Event, EventState
from wechat_bridge.observe import metrics
from wechat_bridge.observe.logging import logger

log = logger(__name__)

QUEUE = "events"
OLD_WINDOWS_SECONDS = 60.0


class EventSweeper:
    """One per process. Several at once are harmless: each step is taken only by whoever finds things as they were."""

    def __init__(self) -> None:
        self._running = threading.Lock()
        self._looked_at_windows: float | None = None
        self._retention = EventRetention()

    def sweep(self, gateway: Gateway) -> None:
        """Do one pass, bounded, oldest first. A pass that finds another one running in this process leaves it to it."""
        if not self._running.acquire(blocking=False):
            return
        try:
            drain(gateway)
            _events(gateway)
            _windows(gateway)
            self._old_windows(gateway)
        finally:
            self._running.release()

    def _old_windows(self, gateway: Gateway) -> None:
        now = time.monotonic()
        if self._looked_at_windows is not None and now - self._looked_at_windows < OLD_WINDOWS_SECONDS:
            return
        self._looked_at_windows = now
        flush_old_windows(gateway)
        self._retention.go_on(gateway)


def flush_old_windows(gateway: Gateway) -> None:
    """Let windows go on that have been open for longer than any should be."""
    most_seconds = gateway.rules().max_context_age_seconds
    for window in gateway.windows.opened_before(gateway.clock.after(-most_seconds)):
        if gateway.windows.force(window, gateway.clock.now()):
            metrics.windows_forced_total.inc()
            log.warning("window_forced", window=window.id, waiting=window.waiting, opened_at=str(window.opened_at))
            ring_window(gateway, window.id)


def _events(gateway: Gateway) -> None:
    dead = gateway.alive.dead_owners()
    for event in gateway.events.overdue(gateway.clock.now(), dead, _room(gateway)):
        if event.state is EventState.WAITING:
            _look_at_window(gateway, event)
        elif event.state is EventState.QUEUED:
            _rang(gateway, event)
            ring_dispatch(gateway, event.id)
        elif event.state is EventState.DISPATCHING:
            _take_over(gateway, event)
        elif event.state is EventState.DEAD:
            _rang(gateway, event)
            ring_dead(gateway, event.id)
        else:
            close(gateway, event)


def _look_at_window(gateway: Gateway, event: Event) -> None:
    """It was stored and its process died before its window was armed, or the window is long: either way it is safe."""
    _rang(gateway, event)
    if not gateway.windows.is_open(event.window_key or ""):
        arm(gateway, [event])


def _take_over(gateway: Gateway, event: Event) -> None:
    """Its process is dead or its lease has run out: it is due again, unless that was the last attempt."""
    log.warning("event_taken_over", event_id=event.id, owner=event.owner, trace_id=event.trace_id)
    ring_at = gateway.clock.after(gateway.ring_again_seconds)
    if event.attempts > retry_rule(gateway, event.event_type).max_retries:
        if gateway.events.give_up(event, ring_at, f"worker lost in attempt {event.attempts}"):
            ring_dead(gateway, event.id)
    elif gateway.events.take_over(event, gateway.clock.now(), ring_at):
        ring_dispatch(gateway, event.id)


def _windows(gateway: Gateway) -> None:
    for row in gateway.windows.overdue(gateway.clock.now(), _room(gateway)):
        gateway.windows.rang(
            row["_id"], gateway.clock.after(gateway.settings().sweep.again_seconds(row.get("rings") or 0))
        )
        ring_window(gateway, row["_id"])


def _rang(gateway: Gateway, event: Event) -> None:
    gateway.events.rang(event, gateway.clock.after(gateway.settings().sweep.again_seconds(event.rings)))


def _room(gateway: Gateway) -> int:
    return max(0, gateway.settings().sweep.ceiling - gateway.doorbells.waiting(QUEUE))
