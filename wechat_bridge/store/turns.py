"""The ``processed_messages`` collection: turns, and the claims that keep two workers off one turn."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from wechat_bridge.model import keys
from wechat_bridge.model.turn import Chunk, Turn, TurnState
from wechat_bridge.store.ledger import Document, in_parts, insert_ours, ledger_call, to_document, update_claim
from wechat_bridge.store.turn_reads import TurnReads

INDEXES = [
    IndexModel(
        [("chat_id", ASCENDING), ("lane", ASCENDING)],
        name="one_open_turn",
        unique=True,
        partialFilterExpression={"open": True},
    ),
    IndexModel([("chat_id", ASCENDING)], name="chat"),
    IndexModel([("ring_at", ASCENDING)], name="ring_at"),
    IndexModel([("owner", ASCENDING)], name="owner"),
    IndexModel([("times.closed", ASCENDING)], name="closed"),
    IndexModel(
        [("state", ASCENDING), ("park_reason", ASCENDING), ("share_id", ASCENDING)],
        name="parked",
        partialFilterExpression={"state": TurnState.PARKED.value},
    ),
]


CLOCK_TOLERANCE = timedelta(seconds=0.5)
"""How far the estimates of two processes may differ; refusing a claim for that would cost it a sweep."""


class Opening(Enum):
    """What became of the attempt to open a turn."""

    OPENED = "opened"  # it is the open turn of its conversation now
    BUSY = "busy"  # another turn of the conversation is open
    EXISTS = "exists"  # a turn of this id exists already


class TurnStore(TurnReads):
    """One document per turn. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    def __init__(self, database: Database[Document]) -> None:
        self.collection = database["processed_messages"]

    @ledger_call
    def open(self, turn: Turn) -> Opening:
        """Insert a turn; the unique indexes refuse a second open one and a second of the same id."""
        try:
            insert_ours(self.collection, to_document(turn), ("ring_at", "trace_id"))
        except DuplicateKeyError:
            known = self.collection.find_one({"_id": turn.id}, {"_id": 1})
            return Opening.EXISTS if known else Opening.BUSY
        return Opening.OPENED

    @ledger_call
    def claim(
        self,
        turn_id: str,
        waiting: TurnState,
        working: TurnState,
        owner: str,
        now: datetime,
        lease_until: datetime,
        claim: str | None = None,
    ) -> Turn | None:
        """Take a turn that waits in ``waiting`` and is due; return it, or None when it is not to be had.

        The attempt is counted here, before the work starts, so that a turn that kills its worker ends too. A caller
        who gives the ``claim`` can take back one that was made without an answer.
        """
        claim = claim or keys.new_token()
        update_claim(
            self.collection,
            {"_id": turn_id, "state": waiting.value, "next_attempt_at": {"$lte": now + CLOCK_TOLERANCE}},
            {
                "$set": {
                    "state": working.value,
                    "owner": owner,
                    "claim": claim,
                    "lease_until": lease_until,
                    "ring_at": lease_until,
                    "rings": 0,
                    f"times.{working.value}": now,
                },
                "$inc": {"fence": 1, _attempts(working): 1},
            },
        )
        turn = self.get(turn_id)
        return turn if turn and turn.claim == claim else None

    @ledger_call
    def unclaim(self, turn_id: str, claim: str, waiting: TurnState, working: TurnState, now: datetime) -> None:
        """Take back a claim whose answer never came, if it was made: the turn is due again, the attempt not counted."""
        self.collection.update_one(
            {"_id": turn_id, "claim": claim, "state": working.value},
            {
                "$set": {"state": waiting.value, "next_attempt_at": now, "ring_at": now, "rings": 0} | FREE,
                "$inc": {_attempts(working): -1},
            },
        )

    @ledger_call
    def hand_back(self, owner: str, now: datetime) -> int:
        """Give back every turn that a process holds, its attempt not counted; return how many.

        What the process still finds out about them is refused.
        """
        moves = {TurnState.GENERATING: TurnState.QUEUED, TurnState.DELIVERING: TurnState.GENERATED}
        handed = 0
        for working, waiting in moves.items():
            due = {"state": waiting.value, "next_attempt_at": now, "ring_at": now, "rings": 0}
            handed += self.collection.update_many(
                {"owner": owner, "state": working.value},
                {"$set": due | FREE, "$inc": {"fence": 1, _attempts(working): -1}},
            ).modified_count
        return handed

    @ledger_call
    def write(self, turn: Turn, changes: Document) -> bool:
        """Write what follows from a claim; False when somebody else has claimed the turn since."""
        query = {"_id": turn.id, "fence": turn.fence, "owner": turn.owner}
        return self.collection.update_one(query, {"$set": changes}).matched_count == 1

    @ledger_call
    def write_chunk(self, turn: Turn, number: int, chunk: Chunk, changes: Document | None = None) -> bool:
        """Write one chunk of a claimed turn, with other changes; False when somebody else has claimed it since."""
        return self.write(turn, {f"chunks.{number}": chunk.model_dump()} | (changes or {}))

    @ledger_call
    def release(
        self, turn: Turn, state: TurnState, next_attempt_at: datetime, ring_at: datetime, **changes: Any
    ) -> bool:
        """Give a claim back; the turn is due again at ``next_attempt_at``."""
        return self.write(
            turn,
            {"state": state.value, "next_attempt_at": next_attempt_at, "ring_at": ring_at, "rings": 0} | FREE | changes,
        )

    @ledger_call
    def finish(self, turn: Turn, state: TurnState, now: datetime, changes: Document) -> bool:
        """Move a claimed turn to a terminal state or to parked; closing its rows comes after."""
        ring_at = None if state is TurnState.PARKED else now
        times = {f"times.{state.value}": now}
        return self.write(turn, {"state": state.value, "ring_at": ring_at} | FREE | times | changes)

    @ledger_call
    def stop(self, turn: Turn, now: datetime, reason: str) -> bool:
        """End an open turn as skipped, whoever works on it; False when it has moved on since it was read."""
        ended = {"state": TurnState.SKIPPED.value, "error": reason, "ring_at": now}
        done = self.collection.update_one(
            {"_id": turn.id, "fence": turn.fence, "state": turn.state.value, "open": True},
            {"$set": ended | FREE | {f"times.{TurnState.SKIPPED.value}": now}, "$inc": {"fence": 1}},
        )
        return done.matched_count == 1

    @ledger_call
    def undo(self, turn: Turn, now: datetime, changes: Document) -> bool:
        """Give up a turn, open or closed, of which the platform says afterwards that it was not shown.

        False when it has moved on since it was read; whoever works on it finds that out, too.
        """
        ended: Document = {"state": TurnState.DEAD.value, "ring_at": now if turn.open else None}
        done = self.collection.update_one(
            {"_id": turn.id, "fence": turn.fence, "state": turn.state.value, "open": turn.open},
            {"$set": ended | FREE | {f"times.{TurnState.DEAD.value}": now} | changes, "$inc": {"fence": 1}},
        )
        return done.matched_count == 1

    @ledger_call
    def park_again(self, turn: Turn, now: datetime, changes: Document) -> Opening:
        """Let a turn, open or closed, wait for a person who was not shown all of it.

        BUSY while another turn of the conversation is open, EXISTS when it has moved on since it was read.
        """
        parked: Document = {"state": TurnState.PARKED.value, "open": True, "ring_at": None}
        try:
            done = self.collection.update_one(
                {"_id": turn.id, "fence": turn.fence, "state": turn.state.value, "open": turn.open},
                {
                    "$set": parked | FREE | {f"times.{TurnState.PARKED.value}": now} | changes,
                    "$unset": {"times.closed": ""},
                    "$inc": {"fence": 1},
                },
            )
        except DuplicateKeyError:
            return Opening.BUSY
        return Opening.OPENED if done.matched_count else Opening.EXISTS

    @ledger_call
    def close(self, turn_id: str, now: datetime) -> None:
        """End a terminal turn: another of its conversation may open."""
        terminal = [TurnState.SENT.value, TurnState.SKIPPED.value, TurnState.DEAD.value]
        self.collection.update_one(
            {"_id": turn_id, "state": {"$in": terminal}, "open": True},
            {"$set": {"open": False, "ring_at": None, "times.closed": now}},
        )

    @ledger_call
    def unpark(self, turn: Turn, now: datetime, ring_at: datetime, releases: int) -> bool:
        """Let a parked turn try again; False when it has been released, and perhaps parked again, since it was read."""
        done = self.collection.update_one(
            {"_id": turn.id, "state": TurnState.PARKED.value, "fence": turn.fence},
            {
                "$set": {
                    "state": TurnState.GENERATED.value,
                    "next_attempt_at": now,
                    "ring_at": ring_at,
                    "park_reason": None,
                    "deliver_attempts": 0,
                },
                "$inc": {"releases": releases},
            },
        )
        return done.matched_count == 1

    @ledger_call
    def reopen(self, turn: Turn, state: TurnState, now: datetime, ring_at: datetime) -> Opening:
        """Open a dead turn again, due now, its attempts not yet made; EXISTS when it is dead and closed no more."""
        fresh = {"error": None, "error_class": None, "failed_stage": None, "traceback": None, "park_reason": None}
        counts = {"generate_attempts": 0, "deliver_attempts": 0, "releases": 0, "rings": 0}
        opened = {"state": state.value, "open": True, "next_attempt_at": now, "ring_at": ring_at}
        try:
            done = self.collection.update_one(
                {"_id": turn.id, "state": TurnState.DEAD.value, "open": False, "fence": turn.fence},
                {
                    "$set": opened | fresh | counts | FREE | {f"times.{state.value}": now},
                    "$unset": {"times.closed": ""},
                    "$inc": {"fence": 1},
                },
            )
        except DuplicateKeyError:
            return Opening.BUSY
        return Opening.OPENED if done.matched_count else Opening.EXISTS

    @ledger_call
    def mark_apologized(self, turn_id: str) -> bool:
        """Note that the apology is about to be sent; False when it was noted before."""
        return (
            self.collection.update_one(
                {"_id": turn_id, "apologized": False}, {"$set": {"apologized": True}}
            ).modified_count
            == 1
        )

    @ledger_call
    def count_open(self, share_id: str) -> int:
        """Return how many turns of a channel are open, parked ones too."""
        return self.collection.count_documents({"open": True, "share_id": share_id})

    @ledger_call
    def keep_quiet(self, turn_ids: Sequence[str], until: datetime) -> None:
        """Let the sweep pass over queued turns until then: whatever they wait for rings for them."""
        queued = {"state": TurnState.QUEUED.value, "open": True}
        for part in in_parts(turn_ids):
            self.collection.update_many({"_id": {"$in": part}} | queued, {"$set": {"ring_at": until}})

    @ledger_call
    def rang(self, turn: Turn, next_ring_at: datetime) -> None:
        """Note that the sweep rang for a waiting turn."""
        self.collection.update_one(
            {"_id": turn.id, "fence": turn.fence, "state": turn.state.value, "open": True},
            {"$set": {"ring_at": next_ring_at}, "$inc": {"rings": 1}},
        )


def _attempts(working: TurnState) -> str:
    return "generate_attempts" if working is TurnState.GENERATING else "deliver_attempts"


FREE: Document = {"owner": None, "claim": None, "lease_until": None}
