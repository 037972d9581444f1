"""Tasks of the event gateway: taking an event, and what its doorbells ring for."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from wechat_bridge import wiring
from wechat_bridge.gateway import dead, dispatch, ingest, windows
from wechat_bridge.gateway.sweep import EventSweeper
from wechat_bridge.model.outcome import Outcome
from wechat_bridge.tasks.arguments import as_event
from wechat_bridge.tasks.base import BridgeTask, EventTask, ManagementTask

SWEEPER = EventSweeper()


@shared_task(name="wechat_bridge.ingest_event", base=ManagementTask)
def ingest_event(
    payload: Any, event_type: str = "", content_type: str = "application/json", headers: dict[str, str] | None = None
) -> dict[str, Any]:
    """Take an event: an object, or for other formats their text, or bytes as {"base64": "..."}; says what became of it.

    Called with ``ignore_result`` nobody is told; what is wrong with it then stands in the log.
    """
    incoming = as_event(payload, event_type, content_type, headers)
    return ingest.ingest(wiring.gateway(), incoming).model_dump(mode="json")


@shared_task(name="wechat_bridge.flush_window", base=BridgeTask)
def flush_window(key: str) -> None:
    """Let what waits under a key go on."""
    windows.flush_window(wiring.gateway(), key)


@shared_task(name="wechat_bridge.dispatch_event", base=EventTask)
def dispatch_event(event_id: str) -> Outcome:
    """Hand an event over."""
    return dispatch.dispatch_event(wiring.gateway(), event_id)


@shared_task(name="wechat_bridge.record_dead_event", base=BridgeTask)
def record_dead_event(event_id: str) -> None:
    """Keep an event that was given up."""
    dead.record_dead_event(wiring.gateway(), event_id)


@shared_task(name="wechat_bridge.sweep_events", base=BridgeTask, send_events=False)
def sweep_events() -> None:
    """Ring again whatever is overdue at the gateway, take over from dead owners."""
    SWEEPER.sweep(wiring.gateway())
