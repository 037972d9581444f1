"""What happens to the account of a channel besides logging in: it needs a login, is logged out, or is removed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pymongo.database import Database

from wechat_bridge.model.channel import Channel, ChannelKind, ChannelStatus, StatusReason
from wechat_bridge.store.ledger import Document, from_document, ledger_call

NO_LOGIN: Document = {
    "sealed_account": None,
    "account_id": "",
    "owner_user_id": None,
    "sync_buf": "",
    "status": ChannelStatus.OFFLINE.value,
    "status_reason": StatusReason.LOGGED_OUT.value,
    "poll_owner": None,
    "link_deadline": None,
    "next_poll_at": None,
    "probe_at": None,
    "last_error": None,
}


class AccountStore:
    """Works on the ``channels`` collection. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    def __init__(self, database: Database[Document]) -> None:
        self.collection = database["channels"]
        self.removed = database["removed_channels"]

    @ledger_call
    def log_out(self, share_id: str) -> bool:
        """Remove the credentials; what still comes from the login is refused. False when there is no such channel."""
        changes = {"$set": NO_LOGIN, "$inc": {"epoch": 1, "generation": 1}}
        return self.collection.update_one({"_id": share_id}, changes).matched_count == 1

    @ledger_call
    def set_app(self, share_id: str, epoch: int, fields: Document, now: datetime) -> bool:
        """Give a channel that has no login the account of an app: it is online, with a new epoch, and may send.

        ``fields`` are its settings, account_id and sealed_account. If it is held, the probe that finds out whether it
        works again is due now. False when the channel is gone, or its credentials are no more those of ``epoch``.
        """
        changes = fields | {
            "status": ChannelStatus.ONLINE.value,
            "status_reason": StatusReason.NONE.value,
            "last_error": None,
            "send_blocked_until": None,
            "send_refusals": 0,
            "login_time": now,
        }
        done = self.collection.update_one({"_id": share_id, "epoch": epoch}, {"$set": changes, "$inc": {"epoch": 1}})
        self.collection.update_one({"_id": share_id, "hold.probe_at": {"$ne": None}}, {"$set": {"hold.probe_at": now}})
        return done.matched_count == 1

    @ledger_call
    def remove(self, channel: Channel) -> None:
        """Remove a channel. Its epoch is kept: what its conversations hold must be older than any login to come."""
        self.removed.update_one({"_id": channel.id}, {"$max": {"epoch": channel.epoch + 1}}, upsert=True)
        self.collection.delete_one({"_id": channel.id})

    @ledger_call
    def of_owner(self, kind: ChannelKind, owner_user_id: str) -> list[Channel]:
        """Return the channels whose account belongs to a person."""
        found = self.collection.find({"kind": kind.value, "owner_user_id": owner_user_id})
        return [from_document(Channel, self.collection, row) for row in found]

    @ledger_call
    def claim_reminder(self, share_id: str, now: datetime, before: datetime) -> bool:
        """Be the one who tells that a channel needs a login, unless somebody has told after ``before``."""
        waits = {"_id": share_id, "login_alert_at": {"$not": {"$gt": before}}}
        needed = {"status_reason": StatusReason.LOGIN_NEEDED.value}
        return self.collection.update_one(waits | needed, {"$set": {"login_alert_at": now}}).modified_count == 1

    @ledger_call
    def unreminded(self, before: datetime, limit: int) -> Sequence[str]:
        """Return channels that need a login of which nobody has told after ``before``."""
        query = {
            "status": ChannelStatus.ERROR.value,
            "status_reason": StatusReason.LOGIN_NEEDED.value,
            "enabled": True,
            "login_alert_at": {"$not": {"$gt": before}},
        }
        return [row["_id"] for row in self.collection.find(query, {"_id": 1}).limit(limit)]
