"""The ``conversations`` collection: when waiting messages become a turn, and what may still be sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from wechat_bridge.model.access import DAY, MINUTE
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.store.ledger import LONG_AGO, Document, from_document, in_parts, ledger_call

INDEXES = [
    IndexModel([("ring_at", ASCENDING)], name="ring_at"),
    IndexModel([("context_at", ASCENDING)], name="context_at"),
    IndexModel([("share_id", ASCENDING), ("access.at", ASCENDING)], name="share_access"),
]

SWEEP_SLACK = timedelta(seconds=5)
RACES = 5


@dataclass(frozen=True)
class Arrival:
    """New messages of one conversation: how many, and the newest one's context token and times.

    ``is_urgent``: they wait for no others.
    """

    chat_id: str
    share_id: str
    user_id: str
    count: int
    context_token: str
    epoch: int
    sent_at: datetime
    received_at: datetime
    sends: int
    is_urgent: bool = False


@dataclass(frozen=True)
class Window:
    """The debounce window in seconds, and how many messages end it early."""

    idle_seconds: float
    most_seconds: float
    most_messages: int


class ConversationStore:
    """One document per conversation. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    def __init__(self, database: Database[Document]) -> None:
        self.collection = database["conversations"]

    @ledger_call
    def get(self, chat_id: str) -> Conversation | None:
        """Return a conversation, or None."""
        found = self.collection.find_one({"_id": chat_id})
        return from_document(Conversation, self.collection, found) if found else None

    @ledger_call
    def arm(self, arrival: Arrival, window: Window, now: datetime) -> float | None:
        """Note an arrival and move the due time.

        Return after how many seconds the caller should ring, or None when a doorbell is on its way already: a
        conversation that waits is only moved, never beyond its deadline, unless enough messages wait.
        """
        for _ in range(RACES):
            if self._arm_idle(arrival, window, now):
                return 0.0 if _ends_wait(arrival, window, 0) else window.idle_seconds
            found = (
                self.collection.find_one({"_id": arrival.chat_id}, {"waiting": 1, "blocked": 1, "flush_at": 1}) or {}
            )
            is_full = _ends_wait(arrival, window, found.get("waiting") or 0)
            if self._arm_waiting(arrival, window, now, is_full):
                return 0.0 if is_full else _first_behind_a_turn(found, window, now)
        return 0.0

    def _arm_idle(self, arrival: Arrival, window: Window, now: datetime, *, strictly_newer: bool = False) -> bool:
        is_full = _ends_wait(arrival, window, 0)
        flush_at = now if is_full else now + timedelta(seconds=window.idle_seconds)
        deadline = now + timedelta(seconds=window.most_seconds)
        changes = _due(flush_at) | {"flush_deadline": deadline} | _arrived(arrival, strictly_newer)
        try:
            self.collection.update_one({"_id": arrival.chat_id, "flush_at": None}, [{"$set": changes}], upsert=True)
        except DuplicateKeyError:
            return False
        return True

    def _arm_waiting(self, arrival: Arrival, window: Window, now: datetime, is_full: bool) -> bool:
        flush_at: Any = now if is_full else {"$min": [now + timedelta(seconds=window.idle_seconds), "$flush_deadline"]}
        done = self.collection.update_one(
            {"_id": arrival.chat_id, "flush_at": {"$ne": None}}, [{"$set": _due(flush_at) | _arrived(arrival)}]
        )
        return done.matched_count == 1

    @ledger_call
    def ensure_due(self, arrival: Arrival, now: datetime) -> bool:
        """Make messages due that wait without a due time; True when they had none.

        The send budget is refilled only if their context token was never taken over: this is no new arrival.
        """
        return self._arm_idle(arrival, Window(0.0, 0.0, arrival.count + 1), now, strictly_newer=True)

    @ledger_call
    def clear_due(self, chat_id: str, rev: int) -> bool:
        """Nothing waits any more; False when something arrived since ``rev``."""
        changes = {
            "flush_at": None,
            "flush_deadline": None,
            "ring_at": None,
            "rings": 0,
            "waiting": 0,
            "blocked": False,
            "overflow_row": "",
        }
        return self.collection.update_one({"_id": chat_id, "rev": rev}, {"$set": changes}).matched_count == 1

    @ledger_call
    def block(self, chat_id: str, until: datetime, rev: int | None = None) -> bool:
        """What waits, waits behind an open turn; ``until`` is when to look again should its end be missed.

        False when nothing waits, or when something arrived since ``rev``, where one is given.
        """
        query = {"_id": chat_id, "flush_at": {"$ne": None}} | ({} if rev is None else {"rev": rev})
        changes = _due(until) | {"blocked": True, "flush_deadline": until}
        return self.collection.update_one(query, {"$set": changes}).matched_count == 1

    @ledger_call
    def unblock(self, chat_id: str, now: datetime) -> bool:
        """The open turn ended: what waited behind it is due; True when something did."""
        return self.collection.update_one({"_id": chat_id, "blocked": True}, {"$set": _due(now)}).matched_count == 1

    @ledger_call
    def begin_overflow(self, chat_id: str, row_id: str) -> str:
        """More messages wait than may; return the row by which that began, which is this one if nobody noted another.

        It is forgotten when nothing waits any more.
        """
        none = {"_id": chat_id, "overflow_row": {"$in": ["", None]}}
        self.collection.update_one(none, {"$set": {"overflow_row": row_id}})
        found = self.collection.find_one({"_id": chat_id}, {"overflow_row": 1}) or {}
        return found.get("overflow_row") or row_id

    @ledger_call
    def forget_before(self, chat_id: str, moment: datetime) -> None:
        """Let engines know nothing of this conversation that was said before a moment."""
        forgotten = {"engine_name": "", "engine_conversation": ""}
        self.collection.update_one({"_id": chat_id}, {"$max": {"memory_from": moment}, "$set": forgotten})

    @ledger_call
    def name_for_engine(self, chat_id: str, engine: str, name: str, since: datetime | None) -> None:
        """Keep an engine's own name for a conversation whose memory still begins at ``since``."""
        changes = {"engine_name": engine, "engine_conversation": name}
        self.collection.update_one({"_id": chat_id, "memory_from": since}, {"$set": changes})

    @ledger_call
    def take_send(self, chat_id: str, context_token: str) -> bool:
        """Take one from the send budget of a context token; False when none is left or a newer token came."""
        query = {"_id": chat_id, "context_token": context_token, "sends_left": {"$gt": 0}}
        return self.collection.update_one(query, {"$inc": {"sends_left": -1}}).matched_count == 1

    @ledger_call
    def overdue(self, now: datetime, limit: int) -> list[Document]:
        """Return id and rings of conversations whose doorbell seems lost, the longest overdue first."""
        if limit <= 0:
            return []
        past = {"ring_at": {"$gt": LONG_AGO, "$lte": now}}
        return list(self.collection.find(past, {"rings": 1, "ring_at": 1}).sort("ring_at", ASCENDING).limit(limit))

    @ledger_call
    def due_times(self) -> list[datetime]:
        """Return the due times of all conversations in which messages wait, except behind an open turn."""
        found = self.collection.find({"ring_at": {"$gt": LONG_AGO}}, {"flush_at": 1, "blocked": 1})
        return [row["flush_at"] for row in found if row["flush_at"] and not row.get("blocked")]

    @ledger_call
    def rang(self, chat_id: str, next_ring_at: datetime) -> None:
        """Note that the sweep rang."""
        self.collection.update_one(
            {"_id": chat_id, "ring_at": {"$ne": None}}, {"$set": {"ring_at": next_ring_at}, "$inc": {"rings": 1}}
        )

    @ledger_call
    def due_among(self, chat_ids: Iterable[str]) -> set[str]:
        """Return those of the conversations that have a due time."""
        queries = [{"_id": {"$in": part}, "flush_at": {"$ne": None}} for part in in_parts(chat_ids)]
        return {row["_id"] for query in queries for row in self.collection.find(query, {"_id": 1})}


def _ends_wait(arrival: Arrival, window: Window, waiting: int) -> bool:
    return arrival.is_urgent or waiting + arrival.count >= window.most_messages


def _first_behind_a_turn(found: Document, window: Window, now: datetime) -> float | None:
    """Return when to ring for an arrival that finds only a time to look again: a parked turn may wait for it."""
    earlier = now + timedelta(seconds=window.idle_seconds)
    is_first = found.get("blocked") and found.get("flush_at") and earlier < found["flush_at"]
    return window.idle_seconds if is_first else None


def _due(flush_at: Any) -> Document:
    later = (
        flush_at + SWEEP_SLACK if isinstance(flush_at, datetime) else {"$add": [flush_at, SWEEP_SLACK.seconds * 1000]}
    )
    return {"flush_at": flush_at, "ring_at": later}


def _arrived(arrival: Arrival, strictly_newer: bool = False) -> Document:
    known = {"$ifNull": ["$context_epoch", -1]}
    later: Document = {"$gt" if strictly_newer else "$gte": [arrival.sent_at, "$context_sent_at"]}
    newer = {"$or": [{"$gt": [arrival.epoch, known]}, {"$and": [{"$eq": [arrival.epoch, known]}, later]}]}

    def if_newer(value: Any, field: str) -> Document:
        return {"$cond": [newer, value, f"${field}"]}

    counted = {} if strictly_newer else _counted(arrival, "minute", MINUTE) | _counted(arrival, "day", DAY)
    return counted | {
        # Literals: what a platform sends may begin with a $, which would make it an expression.
        "share_id": {"$literal": arrival.share_id},
        "user_id": {"$literal": arrival.user_id},
        "rev": {"$add": [{"$ifNull": ["$rev", 0]}, 1]},
        "waiting": {"$add": [{"$ifNull": ["$waiting", 0]}, arrival.count]},
        "context_token": if_newer({"$literal": arrival.context_token}, "context_token"),
        "context_at": if_newer(arrival.received_at, "context_at"),
        "context_sent_at": if_newer(arrival.sent_at, "context_sent_at"),
        "context_epoch": if_newer(arrival.epoch, "context_epoch"),
        "sends_left": if_newer(arrival.sends, "sends_left"),
    }


def _counted(arrival: Arrival, window: str, length: timedelta) -> Document:
    """Count an arrival in its window, or begin a new one."""
    began, count = f"{window}_from", f"{window}_count"
    is_over = {"$lte": [{"$ifNull": [f"${began}", LONG_AGO]}, arrival.received_at - length]}
    return {
        began: {"$cond": [is_over, arrival.received_at, f"${began}"]},
        count: {"$cond": [is_over, arrival.count, {"$add": [{"$ifNull": [f"${count}", 0]}, arrival.count]}]},
    }
