"""The ``event_windows`` collection: when the events that wait under one key go on."""

from __future__ import annotations

import time
from datetime import datetime

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from wechat_bridge.model.event import EventWindow
from wechat_bridge.store.ledger import LONG_AGO, Document, from_document, ledger_call
from wechat_bridge.store.windows import RING_INDEX, Arriving, Window, WindowStore

INDEXES = [RING_INDEX, IndexModel([("opened_at", ASCENDING)], name="opened_at")]

COUNTED_SECONDS = 10.0
"""For so long a process believes what it has counted."""

MOST = 500
"""Windows of one answer; the rest is looked at in the next pass."""


class EventWindowStore(WindowStore):
    """One document per window that is open, none for others. Every method raises LedgerUnavailable."""

    def __init__(self, database: Database[Document]) -> None:
        super().__init__(database["event_windows"])
        self._counted = (-COUNTED_SECONDS, 0)

    @ledger_call
    def get(self, key: str) -> EventWindow | None:
        """Return a window, or None where nothing waits."""
        found = self.collection.find_one({"_id": key})
        return from_document(EventWindow, self.collection, found) if found else None

    @ledger_call
    def arm(
        self, key: str, event_type: str, count: int, window: Window, now: datetime, *, is_urgent: bool = False
    ) -> float | None:
        """Note arrivals and move the due time; return after how many seconds to ring, None: somebody rings already.

        A window's document goes with it, so a new one counts from the clock: no ``rev`` ever comes again.
        """
        fields = {"event_type": {"$literal": event_type}, "opened_at": {"$ifNull": ["$opened_at", now]}}
        first_rev = int(now.timestamp() * 1000)
        return self._arm(Arriving(key, count, is_urgent, fields, first_rev), window, now)

    @ledger_call
    def close(self, key: str, rev: int) -> bool:
        """Nothing waits any more; False when something arrived since ``rev``."""
        return self.collection.delete_one({"_id": key, "rev": rev}).deleted_count == 1

    @ledger_call
    def is_open(self, key: str) -> bool:
        """Return whether something waits under a key."""
        return self.collection.find_one({"_id": key}, {"_id": 1}) is not None

    @ledger_call
    def count(self) -> int:
        """Return about how many windows are open: MongoDB knows that, SecantusDB (0.7) counts, 0.6 s for 10,000."""
        at, count = self._counted
        if time.monotonic() - at >= COUNTED_SECONDS:
            count = int(self.collection.estimated_document_count())
            self._counted = (time.monotonic(), count)
        return count

    @ledger_call
    def opened_before(self, moment: datetime) -> list[EventWindow]:
        """Return windows that have been open since before a moment and wait for no open lane."""
        old = {"opened_at": {"$gt": LONG_AGO, "$lte": moment}}
        found = self.collection.find(old).limit(MOST)
        windows = [from_document(EventWindow, self.collection, row) for row in found]
        return [window for window in windows if not window.blocked]

    @ledger_call
    def force(self, window: EventWindow, now: datetime) -> bool:
        """Make a window due; False when somebody else has, or something arrived meanwhile."""
        changes = {"flush_at": now, "flush_deadline": now, "ring_at": now}
        query = {"_id": window.id, "rev": window.rev, "flush_at": window.flush_at}
        return self.collection.update_one(query, {"$set": changes}).matched_count == 1
