"""Quotes that carry only an id, resolved from the messages the bridge has stored."""

from __future__ import annotations

from wechat_bridge.flow.context import Bridge
from wechat_bridge.model import keys
from wechat_bridge.model.message import InboxRow, Item
from wechat_bridge.model.question import excerpt, items_text

FILE_SENT = "[文件]"
"""What stands for a picture or file that the bot sent."""


def with_quotes(bridge: Bridge, rows: list[InboxRow]) -> list[InboxRow]:
    """Return the rows with the text of every quote that can be known."""
    return [row.model_copy(update={"items": tuple(_resolved(bridge, row, item) for item in row.items)}) for row in rows]


def _resolved(bridge: Bridge, row: InboxRow, item: Item) -> Item:
    quote = item.quote
    if quote is None or quote.text is not None or quote.message_id is None:
        return item
    text = _said(bridge, row, quote.message_id)
    if not text:
        return item
    return item.model_copy(update={"quote": quote.model_copy(update={"text": excerpt(text, quote)})})


def _said(bridge: Bridge, row: InboxRow, message_id: str) -> str:
    """Return what was said under an id in the conversation of a row, by the person or by the bot; "" if unknown."""
    quoted = bridge.inbox.get(keys.inbox_id(row.share_id, message_id))
    if quoted is not None:
        return items_text(quoted.items, quotes=False) if quoted.chat_id == row.chat_id else ""
    chunk = bridge.turns.chunk_sent_as(row.chat_id, message_id)
    return "" if chunk is None else chunk.text or FILE_SENT
