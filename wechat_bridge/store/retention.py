"""What is old enough to be removed, what still refers to it, and removing it.

Times are asked for in windows, never in an open range with a limit: the embedded server's queries cost as much as they
match, whatever the limit, and those with more conditions than a compound index has fields walk through everything
(SecantusDB 0.7). A window's answer ends at ``MOST`` documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from pymongo.database import Database

from wechat_bridge.model.message import InboxState
from wechat_bridge.store.dead_letters import WAITING
from wechat_bridge.store.ledger import Document, ledger_call

FINISHED = (InboxState.DONE.value, InboxState.SKIPPED.value, InboxState.FAILED.value)

MOST = 200
"""Documents of one answer."""


class RetentionStore:
    """Looks across the collections. Every method raises LedgerUnavailable when MongoDB cannot be used.

    ``since`` and ``until`` are a window of times: after the first, up to and with the second.
    """

    def __init__(self, database: Database[Document]) -> None:
        self._inbox = database["inbox"]
        self._turns = database["processed_messages"]
        self._conversations = database["conversations"]
        self._letters = database["dead_letters"]

    @ledger_call
    def rows_with_body(self, since: datetime, until: datetime) -> list[Document]:
        """Return id and turn_id of rows received in the window that have their raw body."""
        query = {"received_at": {"$gt": since, "$lte": until}, "raw": {"$ne": ""}}
        return list(self._inbox.find(query, {"turn_id": 1}).limit(MOST))

    @ledger_call
    def rows(self, since: datetime, until: datetime) -> list[Document]:
        """Return id and turn_id of rows received in the window."""
        return list(self._inbox.find({"received_at": {"$gt": since, "$lte": until}}, {"turn_id": 1}).limit(MOST))

    @ledger_call
    def turns(self, since: datetime, until: datetime) -> list[Document]:
        """Return the ids of turns closed in the window."""
        query = {"times.closed": {"$gt": since, "$lte": until}, "open": False}
        return list(self._turns.find(query, {"_id": 1}).limit(MOST))

    @ledger_call
    def conversations(self, since: datetime, until: datetime) -> list[Document]:
        """Return id and rev of conversations whose person wrote last in the window, and in which nothing waits."""
        query = {"context_at": {"$gt": since, "$lte": until}, "flush_at": None}
        return list(self._conversations.find(query, {"rev": 1}).limit(MOST))

    @ledger_call
    def letters(self, since: datetime, until: datetime) -> list[Document]:
        """Return id and last_failure_at of dead letters that failed last in the window."""
        query = {"last_failure_at": {"$gt": since, "$lte": until}}
        return list(self._letters.find(query, {"last_failure_at": 1}).limit(MOST))

    @ledger_call
    def needed(self, turn_ids: Sequence[str]) -> set[str]:
        """Return those of the turns that are open, or given up with a dead letter that waits for somebody."""
        ids = list(turn_ids)
        found = [*self._turns.find({"_id": {"$in": ids}, "open": True}, {"_id": 1}),
                 *self._letters.find({"_id": {"$in": ids}} | WAITING, {"_id": 1})]  # fmt: skip
        return {row["_id"] for row in found}

    @ledger_call
    def needed_conversations(self, chat_ids: Iterable[str]) -> set[str]:
        """Return those of the conversations that have an open turn, or a dead letter that waits for somebody."""
        ids = set(chat_ids)
        busy = {row["chat_id"] for row in self._turns.find({"chat_id": {"$in": [*ids]}, "open": True}, {"chat_id": 1})}
        return busy | (ids & {row["chat_id"] for row in self._letters.find(WAITING, {"chat_id": 1})})

    @ledger_call
    def strip_rows(self, row_ids: Sequence[str]) -> None:
        """Remove the raw bodies of finished rows, and what only a send could use."""
        bare = {"$set": {"raw": "", "context_token": ""}}
        self._inbox.update_many({"_id": {"$in": list(row_ids)}, "state": {"$in": list(FINISHED)}}, bare)

    @ledger_call
    def remove_rows(self, row_ids: Sequence[str]) -> None:
        """Remove finished rows."""
        self._inbox.delete_many({"_id": {"$in": list(row_ids)}, "state": {"$in": list(FINISHED)}})

    @ledger_call
    def remove_turns(self, turn_ids: Sequence[str]) -> None:
        """Remove closed turns."""
        self._turns.delete_many({"_id": {"$in": list(turn_ids)}, "open": False})

    @ledger_call
    def remove_conversation(self, chat_id: str, rev: int) -> None:
        """Remove a conversation unless somebody has written since it was read, or an operator decided about it."""
        undecided: Document = {"access.standing": None, "access.muted": {"$ne": True}}
        self._conversations.delete_one({"_id": chat_id, "rev": rev, "flush_at": None} | undecided)

    @ledger_call
    def remove_letter(self, letter_id: str, last_failure_at: datetime) -> None:
        """Remove a dead letter unless it has failed again since it was read."""
        self._letters.delete_one({"_id": letter_id, "last_failure_at": last_failure_at})
