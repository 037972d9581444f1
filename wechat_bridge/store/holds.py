"""What a whole app of WeCom has to wait for: somebody who changes its configuration, or the end of a window."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pymongo.database import Database

from wechat_bridge.model.channel import Channel
from wechat_bridge.model.hold import Hold
from wechat_bridge.store.ledger import LONG_AGO, Document, from_document, ledger_call


class HoldStore:
    """Works on the ``channels`` collection. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    def __init__(self, database: Database[Document]) -> None:
        self.collection = database["channels"]

    @ledger_call
    def begin(self, share_id: str, hold: Hold, told_before: datetime) -> bool:
        """Hold a channel; True for the one caller who is to tell somebody.

        A channel that is held already is held on. For another cause that is news, unless somebody was told after
        ``told_before``: where two processes go out by different addresses, the causes take turns.
        """
        held = {"$set": {"hold": hold.model_dump()}}
        if self.collection.update_one({"_id": share_id, "hold.probe_at": None}, held).modified_count:
            return True
        other = {"_id": share_id, "hold.cause": {"$ne": hold.cause}, "hold.told_at": {"$lte": told_before}}
        news = {f"hold.{name}": getattr(hold, name) for name in ("reason", "cause", "error", "told_at")}
        return self.collection.update_one(other, {"$set": news}).modified_count == 1

    @ledger_call
    def take_probe(self, share_id: str, hold: Hold, turn_id: str, next_at: datetime, delay_seconds: float) -> bool:
        """Let one turn find out whether a held channel works again; False when another one does already."""
        due = {"_id": share_id, "hold.probe_at": hold.probe_at}
        taken = {"hold.turn_id": turn_id, "hold.probe_at": next_at, "hold.delay_seconds": delay_seconds}
        return self.collection.update_one(due, {"$set": taken}).modified_count == 1

    @ledger_call
    def claim_reminder(self, share_id: str, now: datetime, before: datetime) -> bool:
        """Be the one who tells again, unless somebody has told after ``before``."""
        lasting = {"_id": share_id, "hold.probe_at": {"$gt": LONG_AGO}, "hold.told_at": {"$lte": before}}
        return self.collection.update_one(lasting, {"$set": {"hold.told_at": now}}).modified_count == 1

    @ledger_call
    def end(self, share_id: str) -> bool:
        """The app works again: what was parked may be released. True for the one caller who ended it."""
        lasting = {"_id": share_id, "hold.probe_at": {"$gt": LONG_AGO}}
        return self.collection.update_one(lasting, {"$set": {"hold.probe_at": None}}).modified_count == 1

    @ledger_call
    def forget(self, share_id: str) -> None:
        """Everything was released."""
        self.collection.update_one({"_id": share_id, "hold.probe_at": None}, {"$set": {"hold": None}})

    @ledger_call
    def all(self) -> Sequence[Channel]:
        """Return the channels that are held, or of which replies are being released."""
        found = self.collection.find({"hold.since": {"$gt": LONG_AGO}})
        return [from_document(Channel, self.collection, row) for row in found]

    @ledger_call
    def pause(self, share_id: str, seen_refusals: int, until: datetime) -> bool:
        """Let no worker send before ``until``; False when somebody has done so since the channel was read.

        Many notice at once that the calls of an app are used up; only one counts, for pauses in a row grow.
        """
        seen = {"_id": share_id, "send_refusals": seen_refusals}
        paused = {"$max": {"send_blocked_until": until}, "$inc": {"send_refusals": 1}}
        return self.collection.update_one(seen, paused).modified_count == 1
