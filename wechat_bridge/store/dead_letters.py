"""The ``dead_letters`` collection: what was given up, kept until somebody replays or discards it."""

from __future__ import annotations

from datetime import datetime

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.store.ledger import Document, from_document, ledger_call, to_document

INDEXES = [
    IndexModel([("last_failure_at", ASCENDING)], name="last_failure_at"),
    IndexModel([("replayed_at", ASCENDING), ("discarded_at", ASCENDING)], name="waiting"),
]

WAITING: Document = {"replayed_at": None, "discarded_at": None}


class DeadLetterStore:
    """One document per turn or event given up. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    def __init__(self, database: Database[Document]) -> None:
        self.collection = database["dead_letters"]

    @ledger_call
    def record(self, letter: DeadLetter) -> bool:
        """Store a dead letter; True when it is one more that waits for somebody.

        Recording one that waits already changes nothing but its last failure. One that was replayed or discarded, and
        has failed since, waits again.
        """
        body = to_document(letter)
        del body["_id"]
        stored = self.collection.update_one({"_id": letter.id}, {"$setOnInsert": body}, upsert=True)
        if stored.upserted_id is not None:
            return True
        later = {"_id": letter.id, "last_failure_at": {"$lt": letter.last_failure_at}}
        last_failure = {"last_failure_at": letter.last_failure_at}
        if self.collection.update_one(later | WAITING, {"$set": last_failure}).matched_count:
            return False
        del body["first_failure_at"]
        return self.collection.update_one(later, {"$set": body}).matched_count == 1

    @ledger_call
    def get(self, letter_id: str) -> DeadLetter | None:
        """Return a dead letter, or None."""
        found = self.collection.find_one({"_id": letter_id})
        return from_document(DeadLetter, self.collection, found) if found else None

    @ledger_call
    def waiting(self) -> dict[str, list[datetime]]:
        """Return, by channel (by stage where there is none), when each dead letter that waits for somebody failed."""
        waiting: dict[str, list[datetime]] = {}
        for row in self.collection.find(WAITING, {"share_id": 1, "stage": 1, "last_failure_at": 1}):
            waiting.setdefault(row["share_id"] or row["stage"], []).append(row["last_failure_at"])
        return waiting

    @ledger_call
    def all_waiting(self) -> list[DeadLetter]:
        """Return every dead letter that waits for somebody, the one that failed last first."""
        found = [from_document(DeadLetter, self.collection, row) for row in self.collection.find(WAITING)]
        return sorted(found, key=lambda letter: letter.last_failure_at, reverse=True)

    @ledger_call
    def mark_replayed(self, letter_id: str, by: str, now: datetime) -> bool:
        """Note who replayed it; False when it does not wait any more."""
        changes = {"replayed_at": now, "replayed_by": by}
        return self.collection.update_one({"_id": letter_id} | WAITING, {"$set": changes}).matched_count == 1

    @ledger_call
    def mark_discarded(self, letter_id: str, by: str, now: datetime) -> bool:
        """Note who discarded it; False when it does not wait any more."""
        changes = {"discarded_at": now, "discarded_by": by}
        return self.collection.update_one({"_id": letter_id} | WAITING, {"$set": changes}).matched_count == 1
