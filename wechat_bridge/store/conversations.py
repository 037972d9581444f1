"""The ``conversations`` collection: when waiting messages become a turn, and what may still be sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from wechat_bridge.model.access import DAY, MINUTE
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.store.ledger import LONG_AGO, Document, from_document, in_parts, ledger_call
from wechat_bridge.store.windows import RING_INDEX, Arriving, Window, WindowStore

INDEXES = [
    RING_INDEX,
    IndexModel([("context_at", ASCENDING)], name="context_at"),
    IndexModel([("share_id", ASCENDING), ("access.at", ASCENDING)], name="share_access"),
]


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


class ConversationStore(WindowStore):
    """One document per conversation. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    _CLEARED: ClassVar = {"overflow_row": ""}

    def __init__(self, database: Database[Document]) -> None:
        super().__init__(database["conversations"])

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
        return self._arm(_arriving(arrival), window, now)

    @ledger_call
    def ensure_due(self, arrival: Arrival, now: datetime) -> bool:
        """Make messages due that wait without a due time; True when they had none.

        The send budget is refilled only if their context token was never taken over: this is no new arrival.
        """
        return self._arm_idle(_arriving(arrival, strictly_newer=True), Window(0.0, 0.0, arrival.count + 1), now)

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
    def exhaust(self, chat_id: str, rev: int) -> None:
        """Leave nothing of a send budget, unless something arrived since ``rev``: the platform counts otherwise."""
        self.collection.update_one({"_id": chat_id, "rev": rev}, {"$set": {"sends_left": 0}})

    @ledger_call
    def due_times(self) -> list[datetime]:
        """Return the due times of all conversations in which messages wait, except behind an open turn."""
        found = self.collection.find({"ring_at": {"$gt": LONG_AGO}}, {"flush_at": 1, "blocked": 1})
        return [row["flush_at"] for row in found if row["flush_at"] and not row.get("blocked")]

    @ledger_call
    def due_among(self, chat_ids: Iterable[str]) -> set[str]:
        """Return those of the conversations that have a due time."""
        queries = [{"_id": {"$in": part}, "flush_at": {"$ne": None}} for part in in_parts(chat_ids)]
        return {row["_id"] for query in queries for row in self.collection.find(query, {"_id": 1})}


def _arriving(arrival: Arrival, *, strictly_newer: bool = False) -> Arriving:
    return Arriving(arrival.chat_id, arrival.count, arrival.is_urgent, _arrived(arrival, strictly_newer))


def _arrived(arrival: Arrival, strictly_newer: bool) -> Document:
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
