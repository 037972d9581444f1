"""An event as its target gets it: one JSON object, the same for a task, a queue and an HTTP address.

::

    {"id": "evt-…",                      the same on every attempt: do once what you do for it
     "type": "payment.callback",
     "source": "http",                   or websocket, task, broker
     "received_at": "2026-11-30T12:00:00.123456Z",
     "trace_id": 32 hex digits,          of W3C trace context
     "attempt": 1,                       counts from 1
     "payload": {...},                   as validated; of several merged events, what they became
     "sources": ["evt-…", ...]}          the events that were merged into it, else empty

Numbers are exact: an id may have more digits than a double holds. Beside it stand two headers, ``traceparent`` and
``x-event-id``. What headers the event came with stays here; they may have been meant for the bridge alone.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from wechat_bridge.engines.http import json_body
from wechat_bridge.model.event import Event, JsonObject

TRACEPARENT = "traceparent"
EVENT_ID = "x-event-id"


def outgoing_event(event: Event) -> JsonObject:
    """Return the object that a target gets."""
    return {
        "id": event.id,
        "type": event.event_type,
        "source": event.source.value,
        "received_at": _iso(event.received_at),
        "trace_id": event.trace_id,
        "attempt": max(event.attempts, 1),
        "payload": event.payload,
        "sources": list(event.sources),
    }


def outgoing_body(event: Event) -> bytes:
    """Return that object as JSON in UTF-8."""
    return json_body(outgoing_event(event))


def outgoing_headers(event: Event) -> dict[str, str]:
    """Return the headers beside it: each attempt is a span of its own in the trace of the event."""
    return {TRACEPARENT: f"00-{event.trace_id}-{_new_span_id()}-01", EVENT_ID: event.id}


def _iso(moment: datetime) -> str:
    """Return a moment of the ledger, which has no zone or UTC, in ISO 8601 with ``Z``."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _new_span_id() -> str:
    return f"{secrets.randbelow(2**64 - 1) + 1:016x}"
