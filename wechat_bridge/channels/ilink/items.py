"""The parts of a message: what iLink calls ``item_list``."""

from __future__ import annotations

import re
from typing import Any

from wechat_bridge.channels.ilink.lenient import as_int, as_object, clean
from wechat_bridge.channels.ilink.quotes import parse_quote
from wechat_bridge.model.message import Item, ItemKind

_KINDS = {1: ItemKind.TEXT, 2: ItemKind.IMAGE, 3: ItemKind.VOICE, 4: ItemKind.FILE, 5: ItemKind.VIDEO}
_TOOL_PROGRESS = frozenset({11, 12})  # outbound only; one that comes in is an echo of a bot
_LONGEST_LABEL = 255
_REASONS_TOLD = 5


def parse_items(item_list: object) -> tuple[tuple[Item, ...], str]:
    """Return the parts in order, and "" or the reason why none of them can be answered.

    Texts without words are dropped; media are kept by kind, their addresses and keys stay in the raw message.
    """
    parts = [part for part in item_list if isinstance(part, dict)] if isinstance(item_list, list) else []
    items = tuple(item for item in map(_item, parts) if item is not None)
    if any(item.kind is not ItemKind.UNKNOWN for item in items):
        return items, ""
    reasons = list(dict.fromkeys(_why_not(part) for part in parts))
    return items, "; ".join(reasons[:_REASONS_TOLD]) or "no items"


def _item(part: dict[str, Any]) -> Item | None:
    kind = _kind(part)
    detail = as_object(part.get(f"{kind.value}_item"))
    text = clean(detail.get("text")) if kind in (ItemKind.TEXT, ItemKind.VOICE) else ""
    if kind is ItemKind.TEXT and not text.strip():
        return None
    label = _label(detail.get("file_name")) if kind is ItemKind.FILE else ""
    return Item(kind=kind, text=text if text.strip() else "", label=label, quote=parse_quote(part.get("ref_msg")))


def _kind(part: dict[str, Any]) -> ItemKind:
    number = as_int(part.get("type"))
    return ItemKind.UNKNOWN if number is None else _KINDS.get(number, ItemKind.UNKNOWN)


def _label(file_name: object) -> str:
    """Return the last part of a file name on one line: senders choose it, and may choose a path (field report 55)."""
    name = re.split(r"[/\\]", clean(file_name))[-1]
    return " ".join(name.split())[:_LONGEST_LABEL]


def _why_not(part: dict[str, Any]) -> str:
    number = as_int(part.get("type"))
    if number == 1:
        return "empty text"
    if number in _TOOL_PROGRESS:
        return f"tool progress (item type {number})"
    return "unknown item type" if number is None else f"unknown item type {number}"
