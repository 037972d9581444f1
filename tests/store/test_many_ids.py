"""Asking about thousands of documents by name: SecantusDB takes seconds for a list of two thousand ids in one query."""

from __future__ import annotations

import time

from pymongo.database import Database

from wechat_bridge.model.conversation import Conversation
from wechat_bridge.store.conversations import ConversationStore
from wechat_bridge.store.ledger import Document, to_document
from wechat_bridge.store.turns import TurnStore

NAMES = [f"chat-{number}" for number in range(3_000)]
SOON_SECONDS = 4.0
"""Parts of 100 take half a second, one list about eight."""


def test_three_thousand_names_are_asked_about_in_no_time(database: Database[Document]) -> None:
    store = ConversationStore(database)
    rows = [to_document(Conversation(id=name, share_id="shop", user_id=name)) for name in NAMES]
    store.collection.insert_many(rows)
    began = time.monotonic()
    assert store.due_among(NAMES) == set()
    assert TurnStore(database).busy_among(NAMES) == set()
    assert time.monotonic() - began < SOON_SECONDS
