"""The ``workers`` collection: which processes are alive."""

from __future__ import annotations

from datetime import datetime

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from wechat_bridge.model.worker import Worker
from wechat_bridge.store.ledger import Document, from_document, ledger_call, to_document

INDEXES = [IndexModel([("seen_at", ASCENDING)], name="seen_at")]


class WorkerStore:
    """One document per process. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    def __init__(self, database: Database[Document]) -> None:
        self.collection = database["workers"]

    @ledger_call
    def announce(self, worker: Worker) -> None:
        """Write that a process started."""
        self.collection.replace_one({"_id": worker.id}, to_document(worker), upsert=True)

    @ledger_call
    def seen(self, owner: str) -> bool:
        """Write that a process is alive, by the server's clock; False when its document is gone."""
        return self.collection.update_one({"_id": owner}, {"$currentDate": {"seen_at": True}}).matched_count == 1

    @ledger_call
    def tell_configuration(self, owner: str, number: int) -> None:
        """Write which version of the configuration is in force in a process."""
        self.collection.update_one({"_id": owner}, {"$set": {"configuration": number}})

    @ledger_call
    def leave(self, owner: str, last_seen_at: datetime) -> None:
        """Write that a process has ended, so that others need not wait to take over what it may still own."""
        self.collection.update_one({"_id": owner}, {"$set": {"seen_at": last_seen_at}})

    @ledger_call
    def all(self) -> list[Worker]:
        """Return every process that is not known to have ended."""
        return [from_document(Worker, self.collection, row) for row in self.collection.find()]

    @ledger_call
    def forget(self, before: datetime) -> None:
        """Remove processes not seen since ``before``."""
        self.collection.delete_many({"seen_at": {"$lt": before}})
