"""What may be asked about events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from pymongo import ASCENDING
from pymongo.collection import Collection

from wechat_bridge.model.event import Event, EventState
from wechat_bridge.store.ledger import LONG_AGO, Document, from_document, ledger_call

MOST_READ = 1_000
"""Events of one window that are looked at together; the rest is looked at after them."""


class EventReads:
    """The reading half of ``EventStore``. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    collection: Collection[Document]

    @ledger_call
    def get(self, event_id: str) -> Event | None:
        """Return an event, or None."""
        found = self.collection.find_one({"_id": event_id})
        return event_of(self.collection, found) if found else None

    @ledger_call
    def waiting(self, window_key: str, most: int = MOST_READ) -> list[Event]:
        """Return what waits under a key, in order of receipt."""
        query = {"window_key": window_key, "state": EventState.WAITING.value}
        return in_order([event_of(self.collection, row) for row in self.collection.find(query).limit(most)])

    @ledger_call
    def merged_into(self, batch_id: str) -> list[Event]:
        """Return the sources that a batch owns, in order of receipt."""
        return in_order([event_of(self.collection, row) for row in self.collection.find({"merged_into": batch_id})])

    @ledger_call
    def open_of(self, lane: str) -> Event | None:
        """Return what is open in a lane, or None."""
        found = self.collection.find_one({"lane": lane, "open": True})
        return event_of(self.collection, found) if found else None

    @ledger_call
    def overdue(self, now: datetime, dead_owners: Sequence[str], limit: int) -> list[Event]:
        """Return events that somebody should look at: their time is over, or their process is dead. Oldest first."""
        if limit <= 0:
            return []
        late = self.collection.find({"ring_at": {"$gt": LONG_AGO, "$lte": now}})
        found = list(late.sort("ring_at", ASCENDING).limit(limit))
        for owner in dead_owners:
            found += self.collection.find({"owner": owner}).limit(limit)
        events = {row["_id"]: event_of(self.collection, row) for row in found}
        return list(events.values())[:limit]

    @ledger_call
    def received_between(self, since: datetime, until: datetime) -> list[Document]:
        """Return id, state, ``ring_at`` and ``dedup_until`` of events received after a time, up to another one."""
        window = {"received_at": {"$gt": since, "$lte": until}}
        wanted = {"state": 1, "ring_at": 1, "dedup_until": 1, "received_at": 1}
        return list(self.collection.find(window, wanted).sort("received_at", ASCENDING).limit(MOST_READ))


def in_order(events: list[Event]) -> list[Event]:
    """Return events in the order in which they came; those of one batch stand in its order."""
    return sorted(events, key=lambda event: (event.received_at, event.order, event.id))


def event_of(collection: Collection[Document], document: Document) -> Event:
    """Return the event of a document. Raises DocumentInvalid."""
    texts = {name: json.loads(document[name]) for name in ("payload", "headers")}
    return from_document(Event, collection, document | texts)
