"""Documents as the flow would write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from wechat_bridge.model import keys
from wechat_bridge.model.message import InboundMessage, InboxRow, Item, ItemKind, inbox_row
from wechat_bridge.model.turn import Turn
from wechat_bridge.store.conversations import Arrival
from wechat_bridge.store.windows import Window

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WINDOW = Window(idle_seconds=1.0, most_seconds=5.0, most_messages=20)


def row(share_id: str, number: int, **fields: Any) -> InboxRow:
    """An inbox row with an id beyond 2^63."""
    message = InboundMessage(
        message_id=str(2**63 + number),
        user_id="ann",
        items=(Item(kind=ItemKind.TEXT, text=f"message {number}"),),
        context_token=f"token-{number}",
        raw="{}",
    )
    return inbox_row(message, share_id, 1, NOW, "poll").model_copy(update=fields)


def arrival(chat_id: str, **fields: Any) -> Arrival:
    """One new message of a conversation."""
    values: dict[str, Any] = {
        "chat_id": chat_id, "share_id": "shop", "user_id": "ann", "count": 1, "context_token": "token-1", "epoch": 1,
        "sent_at": NOW, "received_at": NOW, "sends": 10,
    }  # fmt: skip
    return Arrival(**(values | fields))


def turn(share_id: str, number: int, **fields: Any) -> Turn:
    """A turn of one message, due at NOW."""
    message_id = str(2**63 + number)
    values: dict[str, Any] = {
        "id": keys.turn_id(share_id, message_id), "share_id": share_id, "chat_id": keys.chat_id(share_id, "ann"),
        "user_id": "ann", "message_ids": (keys.inbox_id(share_id, message_id),), "next_attempt_at": NOW,
        "ring_at": NOW, "trace_id": "t",
    }  # fmt: skip
    return Turn(**(values | fields))
