"""The ``customer_service`` collection: how far each account was read, and when it is read next."""

from __future__ import annotations

from datetime import datetime

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from wechat_bridge.model import keys
from wechat_bridge.model.wecom_kf import Service
from wechat_bridge.store.ledger import LONG_AGO, Document, from_document, ledger_call, to_document, update_claim

INDEXES = [IndexModel([("due_at", ASCENDING)], name="due_at")]

OPEN_KFIDS = 1_000
"""More accounts than this are due at once in no installation; the rest is looked at in the next pass."""


class CustomerServiceStore:
    """One document per account. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    def __init__(self, database: Database[Document]) -> None:
        self.collection = database["customer_service"]

    @ledger_call
    def add(self, service_id: str, share_id: str, now: datetime) -> None:
        """Let a channel read an account, from where it was read before if it ever was."""
        fresh = to_document(Service(id=service_id, share_id=share_id))
        given = {"share_id": share_id, "due_at": now}
        kept = {name: value for name, value in fresh.items() if name not in given and name != "_id"}
        self.collection.update_one({"_id": service_id}, {"$set": given, "$setOnInsert": kept}, upsert=True)

    @ledger_call
    def get(self, service_id: str) -> Service | None:
        """Return an account, or None."""
        found = self.collection.find_one({"_id": service_id})
        return from_document(Service, self.collection, found) if found else None

    @ledger_call
    def rang(self, service_id: str, now: datetime, event_token: str | None) -> str | None:
        """Note that WeCom rang for an account: it is due. Return the channel that reads it, or None."""
        changes: Document = {"due_at": now}
        if event_token is not None:
            changes |= {"event_token": event_token, "event_token_at": now}
        done = self.collection.update_one(
            {"_id": service_id, "due_at": {"$ne": None}}, {"$set": changes, "$inc": {"doorbells": 1}}
        )
        if not done.matched_count:
            return None
        found = self.collection.find_one({"_id": service_id}, {"share_id": 1})
        return str(found["share_id"]) if found else None

    @ledger_call
    def take(self, service_id: str, generation: int) -> Service | None:
        """Begin the pull after ``generation``; None when somebody else has begun it. Earlier ones write no more."""
        claim = keys.new_token()
        update_claim(
            self.collection,
            {"_id": service_id, "generation": generation},
            {"$inc": {"generation": 1}, "$set": {"claim": claim}},
        )
        service = self.get(service_id)
        return service if service and service.claim == claim else None

    @ledger_call
    def move(self, service: Service, cursor: str) -> bool:
        """Write that all up to ``cursor`` is in the inbox; False when another pull has begun since."""
        query = {"_id": service.id, "generation": service.generation}
        return self.collection.update_one(query, {"$set": {"cursor": cursor}}).matched_count == 1

    @ledger_call
    def finish(self, service: Service, due_at: datetime) -> bool:
        """End a pull that has read everything; False when WeCom rang meanwhile, or another pull has begun."""
        query = {"_id": service.id, "generation": service.generation, "doorbells": service.doorbells}
        changes = {"due_at": due_at, "failures": 0}
        return self.collection.update_one(query, {"$set": changes}).matched_count == 1

    @ledger_call
    def postpone(self, service: Service, due_at: datetime, failures: int) -> None:
        """End a pull that did not get through, however often WeCom rings meanwhile: it is tried again."""
        query = {"_id": service.id, "generation": service.generation}
        self.collection.update_one(query, {"$set": {"due_at": due_at, "failures": failures}})

    @ledger_call
    def forget_token(self, service: Service) -> None:
        """Forget the token of a doorbell that WeCom does not take, unless another came since."""
        query = {"_id": service.id, "event_token": service.event_token}
        self.collection.update_one(query, {"$set": {"event_token": None, "event_token_at": None}})

    @ledger_call
    def end(self, share_id: str) -> None:
        """The channel is gone: its account is read no more, and how far it was read is remembered."""
        self.collection.update_many({"share_id": share_id}, {"$set": {"due_at": None}})

    @ledger_call
    def due(self, now: datetime) -> list[Service]:
        """Return the accounts that are to be read, the longest overdue first. One narrow index range."""
        past = {"due_at": {"$gt": LONG_AGO, "$lte": now}}
        found = self.collection.find(past).sort("due_at", ASCENDING).limit(OPEN_KFIDS)
        return [from_document(Service, self.collection, row) for row in found]
