"""Record what was given up, and let the same event come again where nobody has got it."""

from __future__ import annotations

import base64
from functools import partial
from typing import Any

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.dispatch import close
from wechat_bridge.gateway.stages import said
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.model.event import Event, EventState


def record_dead_event(gateway: Gateway, event_id: str) -> None:
    """Keep a given-up event as a dead letter, and close it. Idempotent."""
    event = gateway.events.get(event_id)
    if event is None or event.state is not EventState.DEAD or event.ring_at is None:
        return
    sources = gateway.events.take_sources(event) if event.sources else [event]
    if not gateway.keep_letter(letter_of(gateway, event, sources)):
        return  # it is looked at again
    if not event.may_have_effect:
        for source in sources:
            release(gateway, source)
    said(event, event.failed_stage, "dead", error=event.error, attempts=event.attempts)
    close(gateway, event)


def release(gateway: Gateway, event: Event) -> None:
    """Let the same event be taken again: whoever sends it once more is not told that it is known."""
    if event.dedup_name:
        gateway.events.release_key(event.id)
        if not gateway.dedupe.forget(event.dedup_name, event.id):
            gateway.unfinished.add(f"repeat of {event.id}", partial(_forget, gateway, event))


def _forget(gateway: Gateway, event: Event) -> None:
    """Raise BrokerUnavailable until Redis, too, knows that the same event may come again."""
    if not gateway.dedupe.forget(event.dedup_name, event.id):
        raise BrokerUnavailable("Redis: not told that an event may come again")


def letter_of(gateway: Gateway, event: Event, sources: list[Event]) -> DeadLetter:
    """Return the letter of a given-up event: each of its sources as it came, and as it was understood."""
    now = gateway.clock.now()
    return DeadLetter(
        id=event.id,
        share_id="",
        chat_id="",
        stage=event.failed_stage or "dispatch",
        event_type=event.event_type,
        error_class=event.error_class,
        error=event.error,
        traceback=event.traceback,
        attempts=event.attempts,
        original=[original(source.id, source.raw_payload, source.payload) for source in sources],
        trace_id=event.trace_id,
        first_failure_at=event.times.get(EventState.DISPATCHING.value, now),
        last_failure_at=event.times.get(EventState.DEAD.value, now),
    )


def original(event_id: str, raw: bytes, parsed: dict[str, Any] | None) -> dict[str, Any]:
    """Return a message as a dead letter holds it: the bytes in Base64, so that nothing of them changes."""
    return {"id": event_id, "raw": base64.b64encode(raw).decode(), "parsed": parsed}
