"""The trailing window of debounce: when what waits under one key goes on, and when the sweep looks at it.

Each arrival moves the due time (``flush_at``), never beyond the deadline that the first one set, unless enough wait.
All of it stands in one document per key, so a restart loses nothing and any number of processes may arm it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from pymongo import ASCENDING, IndexModel
from pymongo.collection import Collection
from pymongo.errors import DuplicateKeyError

from wechat_bridge.store.ledger import LONG_AGO, Document, ledger_call

RING_INDEX = IndexModel([("ring_at", ASCENDING)], name="ring_at")

EARLY_SECONDS = 0.02
"""A doorbell this much early is on time: clocks of two processes differ by about as much."""

BLOCKED_SECONDS = 15.0
"""When to look again behind what is open, should the ring at its end be lost."""

RECHECK_SECONDS = 0.2
"""Before looking again at what was read while the thing before it was just ending, or at what is behind it."""

SWEEP_SLACK = timedelta(seconds=5)
RACES = 5


@dataclass(frozen=True)
class Window:
    """The window in seconds, its latest end in seconds, and how many arrivals end it early."""

    idle_seconds: float
    most_seconds: float
    most_messages: int


@dataclass(frozen=True)
class Arriving:
    """What arrives under a key: how many, whether they wait for no others, and what else is written with it.

    ``fields`` are expressions of an update pipeline. ``first_rev`` is from where a new document counts its arrivals.
    """

    key: str
    count: int
    is_urgent: bool
    fields: Mapping[str, Any]
    first_rev: int = 0


class WindowStore:
    """One document per key. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    _CLEARED: ClassVar[Mapping[str, Any]] = {}
    """What else is forgotten when nothing waits any more."""

    def __init__(self, collection: Collection[Document]) -> None:
        self.collection = collection

    def _arm(self, arriving: Arriving, window: Window, now: datetime) -> float | None:
        """Return after how many seconds the caller should ring, or None when a doorbell is on its way already."""
        for _ in range(RACES):
            if self._arm_idle(arriving, window, now):
                return 0.0 if _ends_wait(arriving, window, 0) else window.idle_seconds
            wanted = {"waiting": 1, "blocked": 1, "flush_at": 1}
            found = self.collection.find_one({"_id": arriving.key}, wanted) or {}
            is_full = _ends_wait(arriving, window, found.get("waiting") or 0)
            if self._arm_waiting(arriving, window, now, is_full):
                return 0.0 if is_full else _first_behind(found, window, now)
        return 0.0

    def _arm_idle(self, arriving: Arriving, window: Window, now: datetime) -> bool:
        """Begin a window where nothing waits; False where something does."""
        is_full = _ends_wait(arriving, window, 0)
        flush_at = now if is_full else now + timedelta(seconds=window.idle_seconds)
        deadline = now + timedelta(seconds=window.most_seconds)
        changes = _due(flush_at) | {"flush_deadline": deadline} | _arrived(arriving)
        try:
            self.collection.update_one({"_id": arriving.key, "flush_at": None}, [{"$set": changes}], upsert=True)
        except DuplicateKeyError:
            return False
        return True

    def _arm_waiting(self, arriving: Arriving, window: Window, now: datetime, is_full: bool) -> bool:
        flush_at: Any = now if is_full else {"$min": [now + timedelta(seconds=window.idle_seconds), "$flush_deadline"]}
        done = self.collection.update_one(
            {"_id": arriving.key, "flush_at": {"$ne": None}}, [{"$set": _due(flush_at) | _arrived(arriving)}]
        )
        return done.matched_count == 1

    @ledger_call
    def clear_due(self, key: str, rev: int) -> bool:
        """Nothing waits any more; False when something arrived since ``rev``."""
        changes = {
            "flush_at": None, "flush_deadline": None, "ring_at": None, "rings": 0, "waiting": 0, "blocked": False,
        }  # fmt: skip
        query = {"_id": key, "rev": rev}
        return self.collection.update_one(query, {"$set": changes | dict(self._CLEARED)}).matched_count == 1

    @ledger_call
    def block(self, key: str, until: datetime, rev: int | None = None) -> bool:
        """What waits, waits behind something open; ``until`` is when to look again should its end be missed.

        False when nothing waits, or when something arrived since ``rev``, where one is given.
        """
        query = {"_id": key, "flush_at": {"$ne": None}} | ({} if rev is None else {"rev": rev})
        changes = _due(until) | {"blocked": True, "flush_deadline": until}
        return self.collection.update_one(query, {"$set": changes}).matched_count == 1

    @ledger_call
    def unblock(self, key: str, now: datetime) -> bool:
        """What was open has ended: what waited behind it is due; True when something did."""
        return self.collection.update_one({"_id": key, "blocked": True}, {"$set": _due(now)}).matched_count == 1

    @ledger_call
    def overdue(self, now: datetime, limit: int) -> list[Document]:
        """Return id and rings of those whose doorbell seems lost, the longest overdue first."""
        if limit <= 0:
            return []
        past = {"ring_at": {"$gt": LONG_AGO, "$lte": now}}
        return list(self.collection.find(past, {"rings": 1, "ring_at": 1}).sort("ring_at", ASCENDING).limit(limit))

    @ledger_call
    def rang(self, key: str, next_ring_at: datetime) -> None:
        """Note that the sweep rang."""
        self.collection.update_one(
            {"_id": key, "ring_at": {"$ne": None}}, {"$set": {"ring_at": next_ring_at}, "$inc": {"rings": 1}}
        )


def _ends_wait(arriving: Arriving, window: Window, waiting: int) -> bool:
    return arriving.is_urgent or waiting + arriving.count >= window.most_messages


def _first_behind(found: Document, window: Window, now: datetime) -> float | None:
    """Return when to ring for an arrival that finds only a time to look again: what is open may wait for it."""
    earlier = now + timedelta(seconds=window.idle_seconds)
    is_first = found.get("blocked") and found.get("flush_at") and earlier < found["flush_at"]
    return window.idle_seconds if is_first else None


def _due(flush_at: Any) -> Document:
    later = (
        flush_at + SWEEP_SLACK if isinstance(flush_at, datetime) else {"$add": [flush_at, SWEEP_SLACK.seconds * 1000]}
    )
    return {"flush_at": flush_at, "ring_at": later}


def _arrived(arriving: Arriving) -> Document:
    return dict(arriving.fields) | {
        "rev": {"$add": [{"$ifNull": ["$rev", arriving.first_rev]}, 1]},
        "waiting": {"$add": [{"$ifNull": ["$waiting", 0]}, arriving.count]},
    }
