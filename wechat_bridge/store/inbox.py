"""The ``inbox`` collection: every inbound message. Its unique key is what removes repeats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from pymongo import ASCENDING, IndexModel, UpdateOne
from pymongo.database import Database
from pymongo.errors import BulkWriteError

from wechat_bridge.model.message import InboxRow, InboxState
from wechat_bridge.store.ledger import Document, from_document, in_parts, ledger_call, to_document

INDEXES = [
    IndexModel([("chat_id", ASCENDING), ("state", ASCENDING)], name="chat_state"),
    IndexModel([("turn_id", ASCENDING)], name="turn_id"),
    IndexModel([("state", ASCENDING), ("received_at", ASCENDING)], name="state_received"),
    IndexModel([("received_at", ASCENDING)], name="received"),
]

MOST_READ = 1_000
"""A person may send without end; whoever looks at what waits looks at the oldest so many."""

DUPLICATE_KEY = 11000
TRIES = 3


class InboxStore:
    """One document per inbound message. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    def __init__(self, database: Database[Document]) -> None:
        self.collection = database["inbox"]

    @ledger_call
    def add(self, rows: Sequence[InboxRow]) -> set[str]:
        """Make every row durable and return the ids of those that were new.

        "Already there" is success. Two writers of one row may collide in their upserts: the loser asks again.
        """
        new: set[str] = set()
        for attempt in range(TRIES):
            try:
                return new | self._upsert(rows)
            except BulkWriteError as error:
                new |= _upserted(rows, error.details.get("upserted", []))
                if attempt == TRIES - 1 or any(e["code"] != DUPLICATE_KEY for e in error.details["writeErrors"]):
                    raise
        return new

    def _upsert(self, rows: Sequence[InboxRow]) -> set[str]:
        writes = [UpdateOne({"_id": row.id}, {"$setOnInsert": _body(row)}, upsert=True) for row in rows]
        result = self.collection.bulk_write(writes, ordered=True)
        return {rows[index].id for index in (result.upserted_ids or {})}

    @ledger_call
    def get(self, row_id: str) -> InboxRow | None:
        """Return one row, or None."""
        found = self.collection.find_one({"_id": row_id})
        return from_document(InboxRow, self.collection, found) if found else None

    @ledger_call
    def pending_chats(self, row_ids: Iterable[str]) -> set[str]:
        """Return the conversations of those rows that still wait."""
        query = {"_id": {"$in": list(row_ids)}, "state": InboxState.PENDING.value}
        return {row["chat_id"] for row in self.collection.find(query, {"chat_id": 1})}

    @ledger_call
    def pending(self, chat_id: str, most: int = MOST_READ) -> list[InboxRow]:
        """Return the waiting rows of a conversation, the first ``most`` that were stored, in no particular order."""
        query = {"chat_id": chat_id, "state": InboxState.PENDING.value}
        return [from_document(InboxRow, self.collection, row) for row in self.collection.find(query).limit(most)]

    @ledger_call
    def claim(self, row_ids: Sequence[str], turn_id: str) -> list[InboxRow]:
        """Give the waiting ones of these rows to a turn; return all rows the turn owns."""
        self.collection.update_many(
            {"_id": {"$in": list(row_ids)}, "state": InboxState.PENDING.value},
            {"$set": {"state": InboxState.IN_TURN.value, "turn_id": turn_id}} | _now(InboxState.IN_TURN),
        )
        return self.of_turn(turn_id)

    @ledger_call
    def of_turn(self, turn_id: str) -> list[InboxRow]:
        """Return the rows that carry the id of a turn."""
        return [from_document(InboxRow, self.collection, row) for row in self.collection.find({"turn_id": turn_id})]

    @ledger_call
    def close(self, turn_id: str, state: InboxState, reason: str) -> None:
        """Move the rows of a turn to their end state."""
        self.collection.update_many(
            {"turn_id": turn_id, "state": InboxState.IN_TURN.value},
            {"$set": {"state": state.value, "reason": reason}} | _now(state),
        )

    @ledger_call
    def skip(self, row_ids: Sequence[str], reason: str) -> int:
        """Let rows that still wait not be answered, on purpose; return how many there were."""
        return self._end(row_ids, InboxState.SKIPPED, reason)

    @ledger_call
    def fail(self, row_ids: Sequence[str], reason: str) -> int:
        """Let rows that still wait fail; return how many there were."""
        return self._end(row_ids, InboxState.FAILED, reason)

    def _end(self, row_ids: Sequence[str], state: InboxState, reason: str) -> int:
        ended = {"$set": {"state": state.value, "reason": reason}} | _now(state)
        queries = [{"_id": {"$in": part}, "state": InboxState.PENDING.value} for part in in_parts(row_ids)]
        return sum(self.collection.update_many(query, ended).modified_count for query in queries)

    @ledger_call
    def reopen(self, turn_id: str) -> None:
        """Give a replayed turn the rows back that failed with it."""
        self.collection.update_many(
            {"turn_id": turn_id, "state": InboxState.FAILED.value},
            {"$set": {"state": InboxState.IN_TURN.value, "reason": ""}} | _now(InboxState.IN_TURN),
        )

    @ledger_call
    def waiting_chats(self, since: datetime, until: datetime) -> set[str]:
        """Return the conversations with a row that waits since a time within the range."""
        query = {"state": InboxState.PENDING.value, "received_at": {"$gt": since, "$lte": until}}
        return {row["chat_id"] for row in self.collection.find(query, {"chat_id": 1})}

    @ledger_call
    def count_waiting(self) -> int:
        """Return how many rows wait for a turn."""
        return self.collection.count_documents({"state": InboxState.PENDING.value})


def _now(state: InboxState) -> Document:
    """Write when a state began, by the server's clock."""
    return {"$currentDate": {f"times.{state.value}": True}}


def _body(row: InboxRow) -> Document:
    document = to_document(row)
    del document["_id"]
    return document


def _upserted(rows: Sequence[InboxRow], upserted: Iterable[Document]) -> set[str]:
    return {rows[entry["index"]].id for entry in upserted}
