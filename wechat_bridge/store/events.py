"""The ``events`` collection: every event that was taken. Its unique ``dedup_key`` is what removes repeats."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database
from pymongo.errors import AutoReconnect, BulkWriteError, DuplicateKeyError

from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.model.event import Event, EventState
from wechat_bridge.store.event_reads import EventReads
from wechat_bridge.store.ledger import Document, in_parts, ledger_call, to_document, update_claim
from wechat_bridge.store.turns import CLOCK_TOLERANCE, Opening

INDEXES = [
    IndexModel([("dedup_key", ASCENDING)], name="dedup_key", unique=True),
    IndexModel([("lane", ASCENDING)], name="one_open", unique=True, partialFilterExpression={"open": True}),
    IndexModel([("window_key", ASCENDING), ("state", ASCENDING)], name="window_state"),
    IndexModel([("merged_into", ASCENDING)], name="merged_into"),
    IndexModel([("ring_at", ASCENDING)], name="ring_at"),
    IndexModel([("owner", ASCENDING)], name="owner"),
    IndexModel([("received_at", ASCENDING)], name="received"),
]

DUPLICATE_KEY = 11000
TRIES = 4
FREE: Document = {"owner": None, "lease_until": None}


@dataclass(frozen=True)
class Added:
    """What became of an event that was to be stored: it is new, or the event ``known_id`` holds its key."""

    known_id: str = ""

    @property
    def is_new(self) -> bool:
        """Whether it is stored."""
        return not self.known_id


class EventStore(EventReads):
    """One document per event. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    def __init__(self, database: Database[Document]) -> None:
        self.collection = database["events"]

    @ledger_call
    def add(self, events: Sequence[Event], now: datetime) -> list[Added]:
        """Make every event durable unless its key is held; return what became of each, in order.

        A key whose time is over is taken away from its holder. An event that is there under its own id is stored:
        an earlier try has done it.
        """
        added: dict[int, Added] = {}
        for _ in range(TRIES):
            left = [number for number in range(len(events)) if number not in added]
            refused = self._insert([events[number] for number in left])
            added |= {number: Added() for place, number in enumerate(left) if place not in refused}
            for place in refused:
                holder = self._holder(events[left[place]], now)
                if holder is not None:
                    added[left[place]] = Added("" if holder == events[left[place]].id else holder)
            if len(added) == len(events):
                return [added[number] for number in range(len(events))]
        raise LedgerUnavailable("MongoDB: keys of events change hands too fast; try again")

    def _insert(self, events: Sequence[Event]) -> set[int]:
        """Return the places of those that were refused."""
        try:
            self._insert_many(events)
        except BulkWriteError as error:
            failed = error.details["writeErrors"]
            if any(each["code"] != DUPLICATE_KEY for each in failed):
                raise
            return {each["index"] for each in failed}
        return set()

    def _insert_many(self, events: Sequence[Event]) -> None:
        documents = [event_document(event) for event in events]
        try:
            self.collection.insert_many(documents, ordered=False)
        except AutoReconnect:
            self.collection.insert_many(documents, ordered=False)

    def _holder(self, event: Event, now: datetime) -> str | None:
        """Return who holds the key of an event; None when it is free, or was just taken from who held it too long."""
        found = self.collection.find_one(
            {"dedup_key": event.dedup_key}, {"dedup_until": 1}
        ) or self.collection.find_one({"_id": event.id}, {"_id": 1})
        if found is None:
            return None
        holder, until = str(found["_id"]), found.get("dedup_until")
        if holder == event.id or until is None or until > now:
            return holder
        over = {"_id": holder, "dedup_key": event.dedup_key, "dedup_until": {"$lte": now}}
        self.collection.update_one(over, {"$set": {"dedup_key": holder, "dedup_until": None}})
        return None

    @ledger_call
    def release_key(self, event_id: str) -> None:
        """Let the same event be taken again."""
        self.collection.update_one({"_id": event_id}, {"$set": {"dedup_key": event_id, "dedup_until": None}})

    @ledger_call
    def open(self, batch: Event) -> Opening:
        """Insert what came of a window; the unique indexes refuse a second open one of its lane, or of its id."""
        if not self._insert([batch]):
            return Opening.OPENED
        found = self.collection.find_one({"_id": batch.id}, {"trace_id": 1, "ring_at": 1})
        if found is None:
            return Opening.BUSY
        return Opening.OPENED if found["ring_at"] == batch.ring_at else Opening.EXISTS

    @ledger_call
    def take_sources(self, batch: Event) -> list[Event]:
        """Give the waiting ones of its sources to a batch; return all that it owns, in order."""
        changes = {"state": EventState.MERGED.value, "merged_into": batch.id, "ring_at": None}
        for part in in_parts(batch.sources):
            waiting = {"_id": {"$in": part}, "state": EventState.WAITING.value}
            self.collection.update_many(waiting, {"$set": changes} | _now(EventState.MERGED))
        return self.merged_into(batch.id)

    @ledger_call
    def skip(self, event_ids: Iterable[str], reason: str) -> int:
        """Let events that still wait go nowhere, on purpose; return how many there were."""
        changes = {"state": EventState.SKIPPED.value, "reason": reason, "ring_at": None}
        queries = [{"_id": {"$in": part}, "state": EventState.WAITING.value} for part in in_parts(event_ids)]
        ended = {"$set": changes} | _now(EventState.SKIPPED)
        return sum(self.collection.update_many(query, ended).modified_count for query in queries)

    @ledger_call
    def claim(self, event_id: str, owner: str, now: datetime, lease_until: datetime, claim: str) -> Event | None:
        """Take an event that is due; None when it is not to be had. The attempt is counted before the work starts."""
        due = {"state": EventState.QUEUED.value, "next_attempt_at": {"$lte": now + CLOCK_TOLERANCE}}
        update_claim(
            self.collection,
            {"_id": event_id} | due,
            {
                "$set": {
                    "state": EventState.DISPATCHING.value, "owner": owner, "claim": claim, "lease_until": lease_until,
                    "ring_at": lease_until, "rings": 0,
                },
                "$inc": {"attempts": 1},
            }
            | _now(EventState.DISPATCHING),
        )  # fmt: skip
        event = self.get(event_id)
        return event if event and event.claim == claim else None

    @ledger_call
    def unclaim(self, event_id: str, claim: str, now: datetime) -> None:
        """Take back a claim whose answer never came, if it was made; the attempt is not counted."""
        self.collection.update_one(
            {"_id": event_id, "claim": claim, "state": EventState.DISPATCHING.value},
            {"$set": _queued(now, now) | FREE, "$inc": {"attempts": -1}},
        )

    @ledger_call
    def hand_back(self, owner: str, now: datetime) -> int:
        """Give back every event that a process holds, its attempt not counted; return how many.

        It cannot be known how far they got, so they may have had an effect.
        """
        held = {"owner": owner, "state": EventState.DISPATCHING.value}
        changes = _queued(now, now) | FREE | {"claim": None, "may_have_effect": True}
        return self.collection.update_many(held, {"$set": changes, "$inc": {"attempts": -1}}).modified_count

    @ledger_call
    def write(self, event: Event, changes: Document) -> bool:
        """Write what follows from a claim; False when somebody else has claimed the event since."""
        return self.collection.update_one(_ours(event), {"$set": _stored(changes)}).matched_count == 1

    @ledger_call
    def retry(self, event: Event, at: datetime, ring_at: datetime, changes: Document) -> bool:
        """Give a claimed event back, due at a time; False when the claim is not ours any more."""
        done = self.collection.update_one(_ours(event), {"$set": _queued(at, ring_at) | FREE | _stored(changes)})
        return done.matched_count == 1

    @ledger_call
    def finish(self, event: Event, state: EventState, changes: Document, ring_at: datetime | None = None) -> bool:
        """End a claimed event. One that is open stays so until ``close``, and one with ``ring_at`` is looked at again.

        False when the claim is not ours any more.
        """
        ended = {"state": state.value, "ring_at": ring_at} | FREE | _stored(changes)
        return self.collection.update_one(_ours(event), {"$set": ended} | _now(state)).matched_count == 1

    @ledger_call
    def close(self, event_id: str) -> None:
        """What has ended, has ended wholly: its lane is free."""
        self.collection.update_one({"_id": event_id}, {"$set": {"open": False, "ring_at": None}})

    @ledger_call
    def take_over(self, event: Event, now: datetime, ring_at: datetime) -> bool:
        """Free an event whose process has died, due at once; False when it has moved since it was read."""
        query = {"_id": event.id, "state": EventState.DISPATCHING.value, "claim": event.claim}
        changes = _queued(now, ring_at) | FREE | {"claim": None, "may_have_effect": True}
        return self.collection.update_one(query, {"$set": changes}).matched_count == 1

    @ledger_call
    def give_up(self, event: Event, ring_at: datetime, error: str) -> bool:
        """End an event whose last attempt died with its process; False when it has moved since it was read."""
        query = {"_id": event.id, "state": EventState.DISPATCHING.value, "claim": event.claim}
        changes = {
            "state": EventState.DEAD.value, "ring_at": ring_at, "rings": 0, "error": error, "claim": None,
            "error_class": "WorkerLost", "failed_stage": "dispatch", "may_have_effect": True,
        }  # fmt: skip
        return self.collection.update_one(query, {"$set": changes | FREE} | _now(EventState.DEAD)).matched_count == 1

    @ledger_call
    def reopen(self, event: Event, dedup_key: str, now: datetime, ring_at: datetime) -> Opening:
        """Let a dead event be dispatched again, its attempts from the start.

        BUSY: another event holds its key, or its lane; EXISTS: it is not dead any more.
        """
        changes = _queued(now, ring_at) | {
            "attempts": 0, "error": "", "error_class": "", "traceback": "", "failed_stage": "", "dedup_key": dedup_key,
            "dedup_until": event.dedup_until, "open": event.lane is not None,
        }  # fmt: skip
        try:
            dead = {"_id": event.id, "state": EventState.DEAD.value, "open": False}
            done = self.collection.update_one(dead, {"$set": changes})
        except DuplicateKeyError:
            return Opening.BUSY
        return Opening.OPENED if done.matched_count else Opening.EXISTS

    @ledger_call
    def forget(self, event_ids: Iterable[str]) -> int:
        """Remove events; return how many there were."""
        queries = [{"_id": {"$in": part}} for part in in_parts(event_ids)]
        return sum(self.collection.delete_many(query).deleted_count for query in queries)

    @ledger_call
    def rang(self, event: Event, next_ring_at: datetime) -> None:
        """Note that the sweep rang."""
        query = {"_id": event.id, "ring_at": event.ring_at}
        self.collection.update_one(query, {"$set": {"ring_at": next_ring_at}, "$inc": {"rings": 1}})


def _ours(event: Event) -> Document:
    return {"_id": event.id, "claim": event.claim, "state": EventState.DISPATCHING.value}


def _queued(at: datetime, ring_at: datetime) -> Document:
    return {"state": EventState.QUEUED.value, "next_attempt_at": at, "ring_at": ring_at, "rings": 0}


def _now(state: EventState) -> Document:
    """Write when a state began, by the server's clock."""
    return {"$currentDate": {f"times.{state.value}": True}}


def _stored(changes: Document) -> Document:
    texts = {name: _text(changes[name]) for name in ("payload", "headers") if name in changes}
    return changes | texts


def event_document(event: Event) -> Document:
    """Return the document of an event."""
    return _stored(to_document(event))


def _text(value: Any) -> str:
    """JSON knows integers and names that BSON does not take."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
