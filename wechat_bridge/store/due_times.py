"""Times that the ledger's clock, having gone back, would reach far too late."""

from __future__ import annotations

from datetime import datetime

from pymongo.database import Database

from wechat_bridge.model.message import InboxState
from wechat_bridge.model.turn import TurnState
from wechat_bridge.store.ledger import Document, ledger_call

WORKING = [TurnState.GENERATING.value, TurnState.DELIVERING.value]
"""States in which ``ring_at`` is the end of a lease."""


class DueTimes:
    """Looks across the collections. Every method raises LedgerUnavailable when MongoDB cannot be used.

    What is due after ``latest`` becomes due ``now``; doing so again changes nothing.
    """

    def __init__(self, database: Database[Document]) -> None:
        self._channels = database["channels"]
        self._inbox = database["inbox"]
        self._conversations = database["conversations"]
        self._turns = database["processed_messages"]
        self._services = database["customer_service"]

    @ledger_call
    def pull_channels(self, now: datetime, latest: datetime, latest_probe: datetime) -> int:
        """Pull polls and probes, and end pauses of sends at ``latest``; return how many polls that were."""
        due = self._channels.update_many({"next_poll_at": {"$gt": latest}}, {"$set": {"next_poll_at": now}})
        for probe in ("probe_at", "hold.probe_at"):
            self._channels.update_many({probe: {"$gt": latest_probe}}, {"$set": {probe: now}})
        self._channels.update_many({"send_blocked_until": {"$gt": latest}}, {"$set": {"send_blocked_until": latest}})
        return due.modified_count

    @ledger_call
    def pull_conversations(self, now: datetime, latest: datetime) -> int:
        """Pull conversations that are due or to be rung; return how many were due."""
        late = {"ring_at": {"$gt": latest}}
        due = self._conversations.update_many(late | {"flush_at": {"$gt": latest}}, {"$set": {"flush_at": now}})
        self._conversations.update_many(late, {"$set": {"flush_deadline": now, "ring_at": now}})
        return due.modified_count

    @ledger_call
    def pull_turns(self, now: datetime, latest: datetime) -> int:
        """Pull turns that nobody works on and that are due or to be rung; return how many were due."""
        idle = {"ring_at": {"$gt": latest}, "state": {"$nin": WORKING}}
        due = self._turns.update_many(idle | {"next_attempt_at": {"$gt": latest}}, {"$set": {"next_attempt_at": now}})
        self._turns.update_many(idle, {"$set": {"ring_at": now}})
        return due.modified_count

    @ledger_call
    def pull_services(self, now: datetime, latest: datetime) -> int:
        """Pull accounts of customer service that are to be read; return how many."""
        return self._services.update_many({"due_at": {"$gt": latest}}, {"$set": {"due_at": now}}).modified_count

    @ledger_call
    def pull_rows(self, latest: datetime, back_seconds: float) -> None:
        """Move the receipt of rows that wait since after ``latest`` back as far as the clock went: in their order."""
        earlier = {"$subtract": ["$received_at", round(back_seconds * 1000)]}
        waiting = {"state": InboxState.PENDING.value, "received_at": {"$gt": latest}}
        self._inbox.update_many(waiting, [{"$set": {"received_at": earlier}}])
