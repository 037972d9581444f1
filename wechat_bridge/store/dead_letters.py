"""The ``dead_letters`` collection: what was given up, kept until somebody replays or discards it."""

from __future__ import annotations

from datetime import datetime

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.store.ledger import Document, from_document, ledger_call, to_document

INDEXES = [
    IndexModel([("last_failure_at", ASCENDING)], name="last_failure_at"),
    IndexModel([("replayed_at", ASCENDING)], name="replayed_at"),
]


class DeadLetterStore:
    """One document per turn given up. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    def __init__(self, database: Database[Document]) -> None:
        self.collection = database["dead_letters"]

    @ledger_call
    def record(self, letter: DeadLetter) -> None:
        """Store a dead letter; recording the same one again changes nothing but its last failure."""
        body = to_document(letter)
        del body["_id"]
        last = {"last_failure_at": body.pop("last_failure_at")}
        self.collection.update_one({"_id": letter.id}, {"$setOnInsert": body, "$set": last}, upsert=True)

    @ledger_call
    def get(self, turn_id: str) -> DeadLetter | None:
        """Return a dead letter, or None."""
        found = self.collection.find_one({"_id": turn_id})
        return from_document(DeadLetter, self.collection, found) if found else None

    @ledger_call
    def waiting(self) -> dict[str, list[datetime]]:
        """Return, by channel, when each dead letter that waits for somebody failed."""
        waiting: dict[str, list[datetime]] = {}
        for row in self.collection.find({"replayed_at": None}, {"share_id": 1, "last_failure_at": 1}):
            waiting.setdefault(row["share_id"], []).append(row["last_failure_at"])
        return waiting
