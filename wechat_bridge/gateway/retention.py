"""Remove events that have ended long ago, whose names nobody need remember, and that no dead letter waits about."""

from __future__ import annotations

from datetime import datetime, timedelta

from wechat_bridge.gateway.context import Gateway
from wechat_bridge.model.event import ENDED, EventState
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.event_reads import MOST_READ
from wechat_bridge.store.ledger import LONG_AGO, Document

log = logger(__name__)

VERSION_DAYS = 365
"""What is older than an event of a year ago is no news."""


class EventRetention:
    """Looks through the events from the oldest on, a part in each pass; begins anew when it has come to the end."""

    def __init__(self) -> None:
        self._since = LONG_AGO

    def go_on(self, gateway: Gateway) -> None:
        """Look at the next part. Raises LedgerUnavailable."""
        before = gateway.clock.now() - timedelta(days=gateway.settings().inbox.retention_days)
        found = gateway.events.received_between(self._since, before)
        gone = gateway.events.forget([row["_id"] for row in found if _is_over(gateway, row)])
        if gone:
            log.info("events_forgotten", count=gone)
        self._since = found[-1]["received_at"] if len(found) == MOST_READ else LONG_AGO
        gateway.versions.forget(before - timedelta(days=VERSION_DAYS))


def _is_over(gateway: Gateway, row: Document) -> bool:
    until: datetime | None = row.get("dedup_until")
    if row["ring_at"] is not None or row["state"] not in ENDED or (until and until > gateway.clock.now()):
        return False
    if row["state"] != EventState.DEAD:
        return True
    letter = gateway.dead_letters.get(row["_id"])
    return letter is None or not letter.waits
