"""The event gateway in the test's own process, with real stores and a real address that gets the events."""

from __future__ import annotations

import base64
import copy
import dataclasses
import json
from collections.abc import Callable
from itertools import count
from typing import Any, cast

from tests.support.sink import Sink
from wechat_bridge.gateway.compiled import compiled
from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.dispatch import dispatch_event
from wechat_bridge.gateway.incoming import Incoming
from wechat_bridge.gateway.ingest import ingest_many
from wechat_bridge.gateway.windows import flush_window
from wechat_bridge.model.event import Event, EventSource, EventState, Receipt
from wechat_bridge.model.event_rules import EventRules
from wechat_bridge.model.outcome import Outcome
from wechat_bridge.store import redis_keys
from wechat_bridge.wiring import Wired

PLAIN = {"schema": {"json_schema": {"type": "object"}, "mode": "passthrough"}}
"""A type whose payload may be any object; it has no repeats and waits for nobody."""

_numbers = count(1)


def rules_for(sink: Sink, types: dict[str, Any], **more: Any) -> EventRules:
    """Rules by which every event of these types goes to the sink."""
    routes = [{"target": {"kind": "http", "url": sink.url, "timeout_seconds": 5}}]
    return EventRules.model_validate({"types": types, "routes": routes} | more)


class Desk:
    """Sends events and does by hand what doorbells ring for."""

    def __init__(self, wired: Wired, sink: Sink, rules: EventRules) -> None:
        self.wired = wired
        self.sink = sink
        self.gateway = gateway_with(wired.gateway, rules)
        self.user = f"user-{next(_numbers)}"

    @property
    def waiting_key(self) -> str:
        """The window of this desk's user."""
        return f"debounce:user:{self.user}"

    def send(self, event_type: str = "plain", **payload: Any) -> Receipt:
        """Send an event of this desk's user."""
        [receipt] = self.send_many({"eventType": event_type, "userId": self.user, **payload})
        return receipt

    def send_many(self, *payloads: dict[str, Any]) -> list[Receipt]:
        """Send events together."""
        return self.bring(*(json.dumps(payload).encode() for payload in payloads))

    def bring(self, *bodies: bytes, content_type: str = "application/json", **headers: str) -> list[Receipt]:
        """Send bodies as they are."""
        many = [Incoming(EventSource.HTTP, content_type, body, headers) for body in bodies]
        return ingest_many(self.gateway, many)

    def event(self, event_id: str) -> Event:
        """What the ledger knows of an event."""
        found = self.gateway.events.get(event_id)
        assert found is not None
        return found

    def state(self, receipt: Receipt) -> EventState:
        """Where an event stands."""
        return self.event(receipt.id).state

    def dispatch(self, receipt: Receipt) -> Outcome:
        """Hand an event over."""
        return dispatch_event(self.gateway, receipt.id)

    def flush(self, key: str = "") -> str:
        """Let what waits go on, if it is due; return the batch that is open then, or nothing."""
        key = key or self.waiting_key
        flush_window(self.gateway, key)
        batch = self.gateway.events.open_of(key)
        return batch.id if batch else ""

    def make_due(self, key: str = "") -> None:
        """Let the time of a window be over."""
        now = self.gateway.clock.now()
        changes = {"flush_at": now, "ring_at": now}
        self.gateway.windows.collection.update_one({"_id": key or self.waiting_key}, {"$set": changes})

    def retry_now(self, event_id: str) -> None:
        """Let the time of a retry be over."""
        self.gateway.events.collection.update_one(
            {"_id": event_id}, {"$set": {"next_attempt_at": self.gateway.clock.now()}}
        )

    def doorbells(self, subject: str) -> int:
        """How many doorbells of the gateway wait for a window or an event."""
        waiting = cast("list[str]", self.wired.redis.lrange(redis_keys.queue("events"), 0, -1))
        asked = [json.loads(base64.b64decode(json.loads(text)["body"]))[0] for text in waiting]
        return asked.count([subject])

    def with_part(self, part: str, method: str, call: Callable[..., Any]) -> Desk:
        """The same desk with one method of a part of its gateway being another function."""
        changed = copy.copy(getattr(self.gateway, part))
        object.__setattr__(changed, method, call)
        other = copy.copy(self)
        other.gateway = dataclasses.replace(self.gateway, **{part: changed})
        return other

    def as_process(self, owner: str) -> Desk:
        """The same desk in another process."""
        alive = copy.copy(self.gateway.alive)
        alive.owner = owner
        other = copy.copy(self)
        other.gateway = dataclasses.replace(self.gateway, alive=alive)
        return other

    def using(self, **parts: Any) -> Desk:
        """The same desk with parts of its gateway replaced."""
        other = copy.copy(self)
        other.gateway = dataclasses.replace(self.gateway, **parts)
        return other


def gateway_with(gateway: Gateway, rules: EventRules) -> Gateway:
    """The gateway under other rules."""
    made = compiled(rules)
    return dataclasses.replace(gateway, rules=lambda: rules, compiled=lambda: made)
