"""Quotes that carry only an id, resolved from the messages the bridge has stored."""

from __future__ import annotations

from wechat_bridge.flow.context import Bridge
from wechat_bridge.model import keys
from wechat_bridge.model.message import InboxRow, Item
from wechat_bridge.model.question import excerpt, items_text


def with_quotes(bridge: Bridge, rows: list[InboxRow]) -> list[InboxRow]:
    """Return the rows with the text of every quote that can be known."""
    return [row.model_copy(update={"items": tuple(_resolved(bridge, row, item) for item in row.items)}) for row in rows]


def _resolved(bridge: Bridge, row: InboxRow, item: Item) -> Item:
    quote = item.quote
    if quote is None or quote.text is not None or quote.message_id is None:
        return item
    quoted = bridge.inbox.get(keys.inbox_id(row.share_id, quote.message_id))
    if quoted is None or quoted.chat_id != row.chat_id:
        return item
    text = excerpt(items_text(quoted.items, quotes=False), quote)
    return item.model_copy(update={"quote": quote.model_copy(update={"text": text})})
