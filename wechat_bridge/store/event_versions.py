"""The ``event_versions`` collection: the newest version seen of each subject that has versions."""

from __future__ import annotations

from datetime import datetime

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from wechat_bridge.store.ledger import LONG_AGO, Document, in_parts, ledger_call

INDEXES = [IndexModel([("at", ASCENDING)], name="at")]

MOST = 500
"""Subjects that one call forgets."""


class EventVersionStore:
    """One document per subject. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    def __init__(self, database: Database[Document]) -> None:
        self.collection = database["event_versions"]

    @ledger_call
    def newer(self, subject: str, version: str) -> bool:
        """Note a version; False when a newer one was noted before. Versions compare as texts do."""
        not_newer = {"_id": subject, "version": {"$lte": version}}
        noted: Document = {"$set": {"version": version}, "$currentDate": {"at": True}}
        try:
            self.collection.update_one(not_newer, noted, upsert=True)
        except DuplicateKeyError:  # a newer one is there, or another process noted the first one a moment ago
            return self.collection.update_one(not_newer, noted).matched_count == 1
        return True

    @ledger_call
    def forget(self, before: datetime) -> int:
        """Remove subjects without a version since ``before``, MOST at once; return how many."""
        old: Document = {"at": {"$gt": LONG_AGO, "$lt": before}}
        ids = [row["_id"] for row in self.collection.find(old, {"_id": 1}).limit(MOST)]
        removed = (self.collection.delete_many({"_id": {"$in": part}} | old) for part in in_parts(ids))
        return sum(result.deleted_count for result in removed)
