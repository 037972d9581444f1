"""Events as they are when they are handed over."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from wechat_bridge.model.event import Event, EventSource

RECEIVED = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


def event(payload: dict[str, Any] | None = None, **fields: Any) -> Event:
    """A payment whose sender was told that it is taken."""
    event_id = fields.get("id", "evt-1")
    known: dict[str, Any] = {
        "id": "evt-1",
        "source": EventSource.HTTP,
        "event_type": "payment.callback",
        "content_type": "application/json",
        "raw_payload": b"{}",
        "payload": {"orderId": "0042", "status": "SUCCESS"} if payload is None else payload,
        "received_at": RECEIVED,
        "validated_at": RECEIVED,
        "trace_id": TRACE_ID,
        "dedup_key": event_id,
        "attempts": 1,
    }
    return Event(**{**known, **fields})
