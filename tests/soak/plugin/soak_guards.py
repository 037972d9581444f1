"""Switches one guard of the bridge off in this process, so that the soak can show that it notices.

Each function replaces one method by the same without its guard; nothing in the bridge knows of it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime
from types import ModuleType
from typing import Any

from pymongo import IndexModel

from wechat_bridge.channels.ilink.door import IlinkDoor
from wechat_bridge.channels.wecom import kf_door, sending
from wechat_bridge.flow import spill
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model import keys
from wechat_bridge.model.channel import Account, Channel
from wechat_bridge.model.message import InboxRow
from wechat_bridge.model.turn import Turn
from wechat_bridge.store import turns
from wechat_bridge.store.channels import ChannelStore
from wechat_bridge.store.inbox import InboxStore
from wechat_bridge.store.ledger import Document, from_document


def without_link() -> None:
    """Links are taken without a comparison: any doorbell starts a chain."""

    def take_link(
        self: ChannelStore, share_id: str, generation: int, owner: str, now: datetime, deadline: datetime
    ) -> Channel | None:
        changes = {"poll_owner": owner, "link_deadline": deadline, "next_poll_at": None}
        self.collection.update_one({"_id": share_id}, {"$inc": {"generation": 1}, "$set": changes})
        return self.get(share_id)

    _patch(ChannelStore, take_link)


def without_claim() -> None:
    """A turn takes its rows without marking them."""

    def claim(self: InboxStore, row_ids: Sequence[str], turn_id: str) -> list[InboxRow]:
        found = self.collection.find({"_id": {"$in": list(row_ids)}})
        return [from_document(InboxRow, self.collection, row) for row in found]

    _patch(InboxStore, claim)


def without_fence() -> None:
    """A worker whose claim was taken over still writes."""

    def write(self: turns.TurnStore, turn: Turn, changes: Document) -> bool:
        return self.collection.update_one({"_id": turn.id}, {"$set": changes}).matched_count == 1

    _patch(turns.TurnStore, write)


def without_one_open_turn() -> None:
    """Nothing in the ledger refuses a second open turn of a conversation."""
    weaker = [_not_unique(index) if index.document["name"] == "one_open_turn" else index for index in turns.INDEXES]
    turns.INDEXES[:] = weaker


def _not_unique(index: IndexModel) -> IndexModel:
    document = index.document
    return IndexModel(list(document["key"].items()), name=document["name"])


def without_client_id() -> None:
    """Every attempt of a send has a client_id of its own."""
    send_text = IlinkDoor.send_text

    def fresh(
        self: IlinkDoor, account: Account, user_id: str, text: str, client_id: str, context_token: str
    ) -> str | None:
        return send_text(self, account, user_id, text, f"{client_id}-{keys.new_token()}", context_token)

    fresh.__name__ = "send_text"
    _patch(IlinkDoor, fresh)


def without_generation() -> None:
    """A poll whose link was taken over still moves the cursor."""

    def record_poll(self: ChannelStore, channel: Channel, changes: dict[str, Any]) -> bool:
        query = {"_id": channel.id, "epoch": channel.epoch}
        return self.collection.update_one(query, {"$set": changes}).matched_count == 1

    _patch(ChannelStore, record_poll)


def without_duplicate_check() -> None:
    """Every attempt of a send to WeCom is a request of its own."""

    def check_seconds(client_id: str) -> int:
        return random.randrange(300, 1_800)

    def msgid_of(client_id: str) -> str:
        return keys.new_token()

    _patch(sending, check_seconds)
    _patch(kf_door, msgid_of)


def without_kept() -> None:
    """What the ledger did not store is said to be kept, and is not."""

    def put(bridge: Bridge, share_id: str, rows: Sequence[InboxRow]) -> bool:
        return True

    _patch(spill, put)


def _patch(owner: type | ModuleType, method: Any) -> None:
    if not hasattr(owner, method.__name__):
        raise LookupError(f"{owner.__name__} has no {method.__name__} any more; the soak switches nothing off")
    setattr(owner, method.__name__, method)


OFF = {
    "link": without_link,
    "claim": without_claim,
    "fence": without_fence,
    "one-open-turn": without_one_open_turn,
    "client-id": without_client_id,
    "generation": without_generation,
    "duplicate-check": without_duplicate_check,
    "kept": without_kept,
}


def switch_off(name: str) -> None:
    """Switch a guard off."""
    OFF[name]()
