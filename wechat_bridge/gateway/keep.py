"""Make events durable: in the ledger, in Redis while that is away. What neither keeps is not taken."""

from __future__ import annotations

import time
from collections.abc import Sequence

from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable
from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.go_on import go_on
from wechat_bridge.model.event import Event
from wechat_bridge.observe import alerts
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.events import Added
from wechat_bridge.store.ledger import patience

log = logger(__name__)

PAUSE_SECONDS = 0.1
QUICK_SECONDS = 0.3
DRAINED_AT_ONCE = 100
AWAY = "ledger_unavailable"
SUBJECT = "events"


def keep(gateway: Gateway, events: Sequence[Event]) -> list[Added]:
    """Return what became of each event, in order.

    Raises LedgerUnavailable when nothing keeps them; some may be stored all the same, and are known when they come
    again.
    """
    try:
        added = _stored(gateway, events)
    except LedgerUnavailable as error:
        try:
            gateway.spill.put(events)
        except BrokerUnavailable as full:
            raise LedgerUnavailable(f"{error}; nor does Redis keep them: {full}") from error
        alerts.raise_(AWAY, SUBJECT, f"events wait in Redis, outside the ledger: {error}")
        return [Added() for _ in events]
    alerts.clear(AWAY, SUBJECT)
    return added


def drain(gateway: Gateway) -> None:
    """Store what waits in Redis. Raises LedgerUnavailable and BrokerUnavailable."""
    while found := gateway.spill.peek(DRAINED_AT_ONCE):
        events = [event for _, event in found]
        added = gateway.events.add(events, gateway.clock.now())
        gateway.spill.drop([text for text, _ in found])
        go_on(gateway, [event for event, each in zip(events, added, strict=True) if each.is_new])
        log.info("events_drained", count=len(found))


def _stored(gateway: Gateway, events: Sequence[Event]) -> list[Added]:
    """Store them, trying again until the time is up. Raises LedgerUnavailable."""
    until = time.monotonic() + gateway.keep_seconds
    while True:
        left = until - time.monotonic()
        try:
            with patience(max(left, QUICK_SECONDS)):
                return gateway.events.add(events, gateway.clock.now())
        except LedgerUnavailable:
            if left <= QUICK_SECONDS or gateway.stopping.wait(PAUSE_SECONDS):
                raise
