"""An event as a source brings it, and the envelope it becomes."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from wechat_bridge.model import keys
from wechat_bridge.model.event import Envelope, EventSource

SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token", "sec-websocket-key"}
)
MOST_HEADERS = 64
MOST_HEADER_CHARACTERS = 1_024

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?", re.ASCII)


@dataclass(frozen=True)
class Incoming:
    """What a source knows: the bytes, their content type, headers, and the type of event where it is told beside."""

    source: EventSource
    content_type: str
    raw: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    event_type: str = ""


def envelope_of(incoming: Incoming, now: datetime) -> Envelope:
    """Return a fresh envelope, received now. A trace that was begun elsewhere is continued."""
    headers = _kept(incoming.headers)
    return Envelope(
        id=f"evt-{secrets.token_hex(12)}",
        source=incoming.source,
        event_type=incoming.event_type,
        content_type=incoming.content_type,
        raw_payload=incoming.raw,
        timestamp=now,
        headers=headers,
        trace_id=_trace_id(headers.get("traceparent", "")),
    )


def _kept(headers: Mapping[str, str]) -> dict[str, str]:
    named = [(name.lower(), value) for name, value in headers.items() if len(value) <= MOST_HEADER_CHARACTERS]
    return dict([(name, value) for name, value in named if name not in SECRET_HEADERS][:MOST_HEADERS])


def _trace_id(traceparent: str) -> str:
    found = _TRACEPARENT.fullmatch(traceparent.strip())
    return found.group(1) if found else keys.new_trace_id()
