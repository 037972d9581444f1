"""What may be asked about turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from pymongo import ASCENDING
from pymongo.collection import Collection

from wechat_bridge.model import keys
from wechat_bridge.model.hold import HELD_REASONS
from wechat_bridge.model.turn import Chunk, Lane, Turn, TurnState
from wechat_bridge.store.ledger import LONG_AGO, Document, from_document, in_parts, ledger_call


class TurnReads:
    """The reading half of ``TurnStore``. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    collection: Collection[Document]

    @ledger_call
    def get(self, turn_id: str) -> Turn | None:
        """Return a turn, or None."""
        found = self.collection.find_one({"_id": turn_id})
        return from_document(Turn, self.collection, found) if found else None

    @ledger_call
    def open_of(self, chat_id: str, lane: Lane = Lane.TALK) -> Turn | None:
        """Return the open turn of a lane of a conversation, or None."""
        found = self.collection.find_one({"chat_id": chat_id, "lane": lane.value, "open": True})
        return from_document(Turn, self.collection, found) if found else None

    @ledger_call
    def has_closed_since(self, chat_id: str, moment: datetime) -> bool:
        """Return whether a turn with an answer to a question of this conversation has ended since a moment."""
        query = {"chat_id": chat_id, "lane": Lane.TALK.value, "times.closed": {"$gte": moment}}
        return self.collection.find_one(query, {"_id": 1}) is not None

    @ledger_call
    def chunk_sent_as(self, chat_id: str, message_id: str) -> Chunk | None:
        """Return the chunk that WeChat gave this id, if it was sent in this conversation."""
        turn = self.sent_as(chat_id, message_id)
        return next((chunk for chunk in turn.chunks if chunk.message_id == message_id), None) if turn else None

    @ledger_call
    def sent_as(self, chat_id: str, message_id: str) -> Turn | None:
        """Return the turn of a conversation of which a chunk was accepted under this id, or None."""
        found = self.collection.find_one({"chat_id": chat_id, "chunks.message_id": message_id})
        return from_document(Turn, self.collection, found) if found else None

    @ledger_call
    def rounds(self, chat_id: str, since: datetime, most: int) -> list[tuple[str, str]]:
        """Return question and answer of the last turns of a conversation that were sent since a time, oldest first."""
        query = {"chat_id": chat_id, "state": TurnState.SENT.value, "lane": Lane.TALK.value}
        found = [
            row
            for row in self.collection.find(query, {"question": 1, "answer": 1, "times": 1})
            if row["question"] and row["answer"] and row["times"][TurnState.QUEUED.value] >= since
        ]
        last = sorted(found, key=lambda row: row["times"][TurnState.QUEUED.value])[-most:] if most else []
        return [(row["question"], row["answer"]) for row in last]

    @ledger_call
    def busy_among(self, chat_ids: Iterable[str]) -> set[str]:
        """Return those of the conversations in which a question is open and not parked."""
        busy = {"open": True, "state": {"$ne": TurnState.PARKED.value}}
        queries = [{"chat_id": {"$in": part}} | busy for part in in_parts(chat_ids)]
        found = (row for query in queries for row in self.collection.find(query, {"chat_id": 1, "lane": 1}))
        return {row["chat_id"] for row in found if row["lane"] == Lane.TALK.value}

    @ledger_call
    def count_notices(self, share_id: str, since: datetime) -> int:
        """Return how many notices of a channel were stored since a time."""
        of_channel = {"_id": {"$gte": keys.notice_id(share_id, ""), "$lt": keys.notice_id(share_id, "\U0010ffff")}}
        found = self.collection.find(of_channel, {"times": 1})
        return sum(row["times"][TurnState.GENERATED.value] >= since for row in found)

    @ledger_call
    def parked_of(self, chat_id: str) -> list[Turn]:
        """Return the turns of a conversation that are parked, of whatever lane."""
        query = {"chat_id": chat_id, "open": True, "state": TurnState.PARKED.value}
        return [from_document(Turn, self.collection, row) for row in self.collection.find(query)]

    @ledger_call
    def parked(self, share_id: str, reason: str) -> Sequence[str]:
        """Return the ids of a channel's turns that are parked for a reason."""
        query = {"share_id": share_id, "state": TurnState.PARKED.value, "park_reason": reason}
        return [row["_id"] for row in self.collection.find(query, {"_id": 1})]

    @ledger_call
    def held(self, share_id: str) -> list[tuple[datetime, str]]:
        """Return when the turns of a channel began that are parked because its app is held, and their ids; the oldest
        first."""
        found = [row for query in _held() for row in self.collection.find(query | {"share_id": share_id}, {"times": 1})]
        return sorted((min(row["times"].values()), row["_id"]) for row in found)

    @ledger_call
    def held_channels(self) -> set[str]:
        """Return the channels of all turns that are parked because their app is held."""
        return {row["share_id"] for query in _held() for row in self.collection.find(query, {"share_id": 1})}

    @ledger_call
    def count_parked(self) -> dict[str, int]:
        """Return how many turns are parked, by reason."""
        found = self.collection.find({"state": TurnState.PARKED.value}, {"park_reason": 1})
        return dict(Counter(row["park_reason"] or "" for row in found))

    @ledger_call
    def active(self) -> list[Document]:
        """Return state, next_attempt_at and lease_until of every turn that is open and not parked."""
        found = self.collection.find(
            {"ring_at": {"$gt": LONG_AGO}}, {"state": 1, "next_attempt_at": 1, "lease_until": 1}
        )
        return list(found)

    @ledger_call
    def overdue(self, now: datetime, dead_owners: Sequence[str], limit: int) -> list[Turn]:
        """Return turns the sweep should look at: doorbell lost, lease run out, owner dead, not closed."""
        if limit <= 0:
            return []
        queries: list[Document] = [{"ring_at": {"$gt": LONG_AGO, "$lte": now}}]
        if dead_owners:
            queries.append({"owner": {"$in": list(dead_owners)}})
        cursors = [self.collection.find(query).sort("ring_at", ASCENDING).limit(limit) for query in queries]
        found = {row["_id"]: row for cursor in cursors for row in cursor}
        oldest = sorted(found.values(), key=lambda row: row["ring_at"] or now)[:limit]
        return [from_document(Turn, self.collection, row) for row in oldest]


def _held() -> list[Document]:
    return [{"state": TurnState.PARKED.value, "park_reason": reason} for reason in sorted(HELD_REASONS)]
