"""The ``channels`` collection: status, credentials, cursor, and whose link it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from wechat_bridge.errors import AccountTaken, ChannelExists
from wechat_bridge.model import keys
from wechat_bridge.model.channel import POLLED_KINDS, Channel, ChannelKind, ChannelStatus, Login, StatusReason
from wechat_bridge.store.ledger import (
    LONG_AGO,
    Document,
    from_document,
    in_parts,
    ledger_call,
    to_document,
    update_claim,
)
from wechat_bridge.store.vault import Vault

INDEXES = [
    IndexModel([("poll_owner", ASCENDING), ("next_poll_at", ASCENDING)], name="seed"),
    IndexModel([("link_deadline", ASCENDING)], name="link_deadline"),
    IndexModel([("probe_at", ASCENDING)], name="probe_at"),
    IndexModel([("status", ASCENDING)], name="status"),
    IndexModel([("hold.since", ASCENDING)], name="hold"),
    IndexModel(
        [("kind", ASCENDING), ("owner_user_id", ASCENDING)],
        name="one_online_channel_per_account",
        unique=True,
        partialFilterExpression={"status": "online", "owner_user_id": {"$type": "string"}},
    ),
]

SEED_FIELDS = {"generation": 1, "poll_owner": 1}
WITHOUT_SECRETS = {"sealed_account": 0, "sync_buf": 0, "settings": 0, "outgoing": 0}


class ChannelStore:
    """One document per channel. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    def __init__(self, database: Database[Document], vault: Vault) -> None:
        self.collection = database["channels"]
        self.removed = database["removed_channels"]
        self.vault = vault

    @ledger_call
    def add(self, channel: Channel) -> None:
        """Store a new channel. Raises ChannelExists. One that was removed goes on counting its logins."""
        before = self.removed.find_one({"_id": channel.id}) or {}
        epoch = max(channel.epoch, before.get("epoch", 0))
        try:
            self.collection.insert_one(to_document(channel.model_copy(update={"epoch": epoch})))
        except DuplicateKeyError:
            raise ChannelExists(f"channel {channel.share_id} exists already; choose another share_id") from None

    @ledger_call
    def get(self, share_id: str) -> Channel | None:
        """Return a channel, or None."""
        found = self.collection.find_one({"_id": share_id})
        return from_document(Channel, self.collection, found) if found else None

    @ledger_call
    def all(self) -> list[Channel]:
        """Return all channels by name."""
        return [from_document(Channel, self.collection, row) for row in self.collection.find().sort("_id", ASCENDING)]

    @ledger_call
    def of_kinds(self, kinds: Iterable[ChannelKind]) -> list[Channel]:
        """Return the channels of these kinds, in no particular order."""
        found = self.collection.find({"kind": {"$in": [kind.value for kind in kinds]}})
        return [from_document(Channel, self.collection, row) for row in found]

    @ledger_call
    def engines_of(self, share_ids: Iterable[str]) -> dict[str, str]:
        """Return which engine answers for each of these channels."""
        queries = [{"_id": {"$in": part}} for part in in_parts(share_ids)]
        return {row["_id"]: row["engine"] for query in queries for row in self.collection.find(query, {"engine": 1})}

    @ledger_call
    def take_link(
        self, share_id: str, generation: int, owner: str, now: datetime, deadline: datetime, claim: str | None = None
    ) -> Channel | None:
        """Take the link after ``generation`` for ``owner``; return the channel, or None when somebody else has it.

        A caller who gives the ``claim`` can give back a link that was taken without an answer.
        """
        claim = claim or keys.new_token()
        # An online channel has no probe_at, one in error has. Without $or: it makes SecantusDB 0.7 walk the collection.
        pollable = {
            "kind": {"$in": [kind.value for kind in POLLED_KINDS]},
            "status": {"$in": [ChannelStatus.ONLINE.value, ChannelStatus.ERROR.value]},
            "status_reason": {"$in": [StatusReason.NONE.value, StatusReason.FAILURES.value]},
            "probe_at": {"$not": {"$gt": now}},
        }
        update_claim(
            self.collection,
            {
                "_id": share_id,
                "generation": generation,
                "poll_owner": None,
                "enabled": True,
                "sealed_account": {"$ne": None},
            }
            | pollable,
            {
                "$inc": {"generation": 1},
                "$set": {"poll_owner": owner, "poll_claim": claim, "link_deadline": deadline, "next_poll_at": None},
            },
        )
        channel = self.get(share_id)
        return channel if channel and channel.poll_claim == claim else None

    @ledger_call
    def untake_link(self, share_id: str, claim: str, now: datetime) -> None:
        """Give back a link whose answer never came, if it was taken: the next one is due."""
        self.collection.update_one(
            {"_id": share_id, "poll_claim": claim, "poll_owner": {"$ne": None}},
            {"$set": {"poll_owner": None, "link_deadline": None, "next_poll_at": now}},
        )

    @ledger_call
    def finish_link(self, share_id: str, generation: int, next_poll_at: datetime | None) -> bool:
        """Give the link back and say when the next is due (None: never); False when it was taken over."""
        done = self.collection.update_one(
            {"_id": share_id, "generation": generation},
            {"$set": {"poll_owner": None, "link_deadline": None, "next_poll_at": next_poll_at}},
        )
        return done.matched_count == 1

    @ledger_call
    def record_poll(self, channel: Channel, changes: dict[str, Any]) -> bool:
        """Write what a poll of this link and login found; False when the link or the login is not current any more.

        That is so too when a probe works whose account has been logged in to another channel meanwhile.
        """
        query = {"_id": channel.id, "generation": channel.generation, "epoch": channel.epoch}
        try:
            return self.collection.update_one(query, {"$set": changes}).matched_count == 1
        except DuplicateKeyError:
            self.require_login(channel.id, channel.epoch, self._explain_taken(channel.owner_user_id or ""))
            return False

    @ledger_call
    def require_login(self, share_id: str, epoch: int, error: str) -> bool:
        """Mark that WeChat ended the session of this login; False when a newer login exists or it is known already."""
        done = self.collection.update_one(
            {"_id": share_id, "epoch": epoch, "status_reason": {"$ne": StatusReason.LOGIN_NEEDED.value}},
            {
                "$set": {
                    "status": ChannelStatus.ERROR.value,
                    "status_reason": StatusReason.LOGIN_NEEDED.value,
                    "last_error": error,
                    "probe_at": None,
                }
            },
        )
        return done.modified_count == 1

    @ledger_call
    def block_sends(self, share_id: str, epoch: int, until: datetime) -> None:
        """Let no worker send on this channel before ``until``, and count it: refusals in a row make pauses longer."""
        blocked = {"$max": {"send_blocked_until": until}, "$inc": {"send_refusals": 1}}
        self.collection.update_one({"_id": share_id, "epoch": epoch}, blocked)

    @ledger_call
    def note_accepted(self, share_id: str) -> None:
        """A send was accepted after refusals: the next one counts as the first."""
        self.collection.update_one({"_id": share_id, "send_refusals": {"$gt": 0}}, {"$set": {"send_refusals": 0}})

    @ledger_call
    def log_in(self, share_id: str, login: Login, now: datetime) -> None:
        """Store a confirmed login: new epoch, no cursor, online. Raises AccountTaken naming the other channel.

        The link of the login before loses its generation, so nothing it still writes counts.
        """
        changes = {
            "sealed_account": self.vault.seal(login.account),
            "account_id": login.account.account_id,
            "owner_user_id": login.owner_user_id,
            "sync_buf": "",
            "status": ChannelStatus.ONLINE.value,
            "status_reason": StatusReason.NONE.value,
            "suspect_polls": 0,
            "probe_at": None,
            "probe_delay_seconds": None,
            "send_blocked_until": None,
            "send_refusals": 0,
            "last_error": None,
            "login_time": now,
            "login_alert_at": None,
            "next_poll_at": now,
            "poll_owner": None,
            "link_deadline": None,
            "enabled": True,
        }
        try:
            self.collection.update_one({"_id": share_id}, {"$set": changes, "$inc": {"epoch": 1, "generation": 1}})
        except DuplicateKeyError:
            raise AccountTaken(self._explain_taken(login.owner_user_id)) from None

    def _explain_taken(self, owner_user_id: str) -> str:
        other = self.collection.find_one({"status": ChannelStatus.ONLINE.value, "owner_user_id": owner_user_id})
        name = other["_id"] if other else "another channel"
        return f"this WeChat account is online in channel {name}; log that one out first"

    @ledger_call
    def configure(self, share_id: str, changes: Document) -> bool:
        """Write fields that an operator chose, all at once; the poll chain and the login stay. False: no channel."""
        return self.collection.update_one({"_id": share_id}, {"$set": changes}).matched_count == 1

    @ledger_call
    def set_enabled(self, share_id: str, enabled: bool, now: datetime) -> bool:
        """Switch a channel on or off; False when there is none."""
        is_polled = {"$in": ["$kind", [kind.value for kind in POLLED_KINDS]]}
        due = {"$cond": [is_polled, now, None]} if enabled else None
        waits_for_probe = {"$eq": ["$status_reason", StatusReason.FAILURES.value]}
        changes = {
            "enabled": enabled,
            "next_poll_at": due,
            "probe_at": {"$cond": [waits_for_probe, due, "$probe_at"]},
        }
        return self.collection.update_one({"_id": share_id}, [{"$set": changes}]).matched_count == 1

    @ledger_call
    def note_callback(self, share_id: str, now: datetime, *, is_message: bool) -> None:
        """Write that a channel's platform has called, and whether with a message."""
        times = {"last_callback_at": now} | ({"last_message_at": now} if is_message else {})
        self.collection.update_one({"_id": share_id}, {"$max": times})

    @ledger_call
    def note_message(self, share_id: str, now: datetime) -> None:
        """Write that a message was read from a channel's platform, which did not call with it."""
        self.collection.update_one({"_id": share_id}, {"$max": {"last_message_at": now}})

    @ledger_call
    def end_chain(self, channel: Channel) -> None:
        """Stop ringing a channel found not pollable, unless a login or enabling has changed that meanwhile."""
        still_so = {
            "_id": channel.id,
            "generation": channel.generation,
            "epoch": channel.epoch,
            "enabled": channel.enabled,
            "status": channel.status.value,
            "status_reason": channel.status_reason.value,
            "poll_owner": None,
        }
        self.collection.update_one(still_so, {"$set": {"next_poll_at": None, "probe_at": None}})

    @ledger_call
    def lost_links(self, now: datetime, dead_owners: Sequence[str], limit: int) -> list[Document]:
        """Return id and poll_owner of channels whose link is past its deadline or belongs to a dead owner."""
        queries: list[Document] = [{"link_deadline": {"$gt": LONG_AGO, "$lte": now}}]
        if dead_owners:
            queries.append({"poll_owner": {"$in": list(dead_owners)}})
        found = {row["_id"]: row for query in queries for row in self.collection.find(query, SEED_FIELDS).limit(limit)}
        return [row for row in found.values() if row.get("poll_owner")]

    @ledger_call
    def free_links(self, rows: Sequence[Document], now: datetime) -> None:
        """Take lost links from their owners: what these still write is refused once the next link is taken."""
        share_ids = [row["_id"] for row in rows]
        owners = sorted({row["poll_owner"] for row in rows})
        self.collection.update_many(
            {"_id": {"$in": share_ids}, "poll_owner": {"$in": owners}},
            {"$set": {"poll_owner": None, "link_deadline": None, "next_poll_at": now}},
        )

    @ledger_call
    def due_links(self, now: datetime, limit: int) -> list[Document]:
        """Return id and generation of channels whose next link is due and free. Two narrow index ranges."""
        past = {"$gt": LONG_AGO, "$lte": now}
        queries: list[Document] = [
            {"poll_owner": None, "next_poll_at": past},
            {"probe_at": past, "poll_owner": None},
        ]
        found = {row["_id"]: row for query in queries for row in self.collection.find(query, SEED_FIELDS).limit(limit)}
        return list(found.values())

    @ledger_call
    def logged_in(self) -> list[Channel]:
        """Return the channels that receive or should: online or in error, disabled ones too; without their secrets."""
        states = [ChannelStatus.ONLINE.value, ChannelStatus.ERROR.value]
        found = self.collection.find({"status": {"$in": states}}, WITHOUT_SECRETS)
        return [from_document(Channel, self.collection, row) for row in found]
