"""What operators and the bridge decided about who may talk: on the channel, and on the conversation of each person.

It lies where the flow reads anyway, so that somebody who is let in costs no write and one small read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pymongo.database import Database

from wechat_bridge.model import keys
from wechat_bridge.model.access import CODE_LIFETIME, AccessRules, Told
from wechat_bridge.model.channel import QueueMode
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.message import InboxRow
from wechat_bridge.model.turn import Turn, TurnState
from wechat_bridge.store.ledger import LONG_AGO, Document, from_document, ledger_call

RULES = {"access": 1, "owner_user_id": 1, "queue_mode": 1}


@dataclass(frozen=True)
class Gate:
    """What a channel allows, who scanned its code, and what becomes of messages behind an open turn."""

    rules: AccessRules
    owner_user_id: str | None
    queue_mode: QueueMode = QueueMode.COLLECT


class AccessStore:
    """On ``channels`` and ``conversations``. Every method raises LedgerUnavailable when MongoDB cannot be used."""

    def __init__(self, database: Database[Document]) -> None:
        self.channels = database["channels"]
        self.conversations = database["conversations"]
        self.inbox = database["inbox"]
        self.turns = database["processed_messages"]

    @ledger_call
    def gate(self, share_id: str) -> Gate | None:
        """Return what a channel allows; None when there is no such channel."""
        found = self.channels.find_one({"_id": share_id}, RULES)
        if found is None:
            return None
        rules = from_document(AccessRules, self.channels, {"_id": share_id} | (found.get("access") or {}))
        return Gate(rules, found.get("owner_user_id"), QueueMode(found.get("queue_mode") or QueueMode.COLLECT))

    @ledger_call
    def set_rules(self, share_id: str, **changes: Any) -> bool:
        """Change some fields of what a channel allows; False when there is no such channel."""
        fields = {f"access.{name}": value for name, value in changes.items()}
        return self.channels.update_one({"_id": share_id}, {"$set": fields}).matched_count == 1

    @ledger_call
    def decide(self, share_id: str, user_id: str, now: datetime, **changes: Any) -> None:
        """Write something about a person, who need not have written yet."""
        fields = {f"access.{name}": value for name, value in changes.items()} | {"access.at": now}
        self.conversations.update_one(
            {"_id": keys.chat_id(share_id, user_id)},
            {"$set": fields, "$setOnInsert": {"share_id": share_id, "user_id": user_id}},
            upsert=True,
        )

    @ledger_call
    def approve(self, share_id: str, user_id: str, code: str, now: datetime, **changes: Any) -> bool:
        """Let a person in by the code that waits for them; False when it does not wait any more."""
        fields = {f"access.{name}": value for name, value in changes.items()}
        spent = {"access.code": "", "access.code_until": None, "access.at": now}
        query = {"_id": keys.chat_id(share_id, user_id), "access.code": code}
        return self.conversations.update_one(query, {"$set": fields | spent}).matched_count == 1

    @ledger_call
    def keep_human(self, chat_id: str, until: datetime) -> None:
        """Let a human go on answering for longer, unless the engine answers again meanwhile."""
        self.conversations.update_one(
            {"_id": chat_id, "access.human_until": {"$lt": until}}, {"$set": {"access.human_until": until}}
        )

    @ledger_call
    def settle(self, seen: Conversation, uncounted: int, told: Mapping[str, Told], code: str, now: datetime) -> bool:
        """Write that messages of a conversation are refused, what their person is told of, and the code they get.

        They count for no limit. False, and nothing written, when messages arrived or were refused since it was read.
        """
        counts = {"minute_count": -min(uncounted, seen.minute_count), "day_count": -min(uncounted, seen.day_count)}
        fields: Document = {f"access.told.{name}": each.model_dump() for name, each in told.items()}
        if code and code != seen.access.code:
            fields |= {"access.code": code, "access.code_until": now + CODE_LIFETIME, "access.at": now}
        query: Document = {"_id": seen.id, "rev": seen.rev, "access.at": seen.access.at}
        # A conversation of an older version has no counts yet: null finds those, too.
        query |= {"minute_count": seen.minute_count or {"$in": [0, None]}}
        query |= {"day_count": seen.day_count or {"$in": [0, None]}}
        update: Document = {"$inc": counts} | ({"$set": fields} if fields else {})
        return self.conversations.update_one(query, update).matched_count == 1

    @ledger_call
    def waiting_codes(self, share_id: str, now: datetime) -> list[Conversation]:
        """Return the conversations of a channel whose pairing code waits for an operator."""
        found = self._decided(share_id, now - CODE_LIFETIME)
        return [each for each in found if each.access.has_code(now)]

    @ledger_call
    def note_code(self, share_id: str, until: datetime) -> None:
        """Note on a channel until when a pairing code may wait, so that health asks for codes only where there are."""
        self.channels.update_one({"_id": share_id}, {"$max": {"codes_until": until}})

    @ledger_call
    def decided(self, share_id: str) -> list[Conversation]:
        """Return the conversations of a channel about whose person anything was ever decided, the latest first."""
        return self._decided(share_id, LONG_AGO)

    @ledger_call
    def rows_of(self, chat_id: str) -> list[InboxRow]:
        """Return every message of a conversation that is kept, in no particular order."""
        return [from_document(InboxRow, self.inbox, row) for row in self.inbox.find({"chat_id": chat_id})]

    @ledger_call
    def answers_of(self, chat_id: str) -> list[Turn]:
        """Return every turn of a conversation whose answer was stored, in no particular order."""
        found = [from_document(Turn, self.turns, row) for row in self.turns.find({"chat_id": chat_id})]
        return [turn for turn in found if turn.answer and TurnState.GENERATED.value in turn.times]

    def _decided(self, share_id: str, since: datetime) -> list[Conversation]:
        found = self.conversations.find({"share_id": share_id, "access.at": {"$gt": since}})
        chats = [from_document(Conversation, self.conversations, row) for row in found]
        return sorted(chats, key=lambda chat: chat.access.at or since, reverse=True)
