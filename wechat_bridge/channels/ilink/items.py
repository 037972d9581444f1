"""The parts of a message: what iLink calls ``item_list``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wechat_bridge.channels.ilink.lenient import as_int, as_object, clean
from wechat_bridge.channels.ilink.quotes import parse_quote
from wechat_bridge.model.media import label_of
from wechat_bridge.model.message import Item, ItemKind

_KINDS = {1: ItemKind.TEXT, 2: ItemKind.IMAGE, 3: ItemKind.VOICE, 4: ItemKind.FILE, 5: ItemKind.VIDEO}
_TOOL_PROGRESS = frozenset({11, 12})  # outbound only; one that comes in is an echo of a bot
_REASONS_TOLD = 5


def parse_items(item_list: object) -> tuple[tuple[Item, ...], str]:
    """Return the parts in order, and "" or the reason why none of them can be answered.

    Texts without words are dropped; media are kept by kind, their addresses and keys stay in the raw message.
    """
    parts = _parts(item_list)
    items = tuple(item for item, _ in kept_parts(item_list))
    if any(item.kind is not ItemKind.UNKNOWN for item in items):
        return items, ""
    reasons = list(dict.fromkeys(_why_not(part) for part in parts))
    return items, "; ".join(reasons[:_REASONS_TOLD]) or "no items"


def kept_parts(item_list: object) -> Iterator[tuple[Item, dict[str, Any]]]:
    """Yield the parts that are kept, in order, each with what iLink said of it: addresses and keys among it."""
    found = ((_item(part), part) for part in _parts(item_list))
    return ((item, part) for item, part in found if item is not None)


def _parts(item_list: object) -> list[dict[str, Any]]:
    return [part for part in item_list if isinstance(part, dict)] if isinstance(item_list, list) else []


def _item(part: dict[str, Any]) -> Item | None:
    kind = _kind(part)
    detail = as_object(part.get(f"{kind.value}_item"))
    text = clean(detail.get("text")) if kind in (ItemKind.TEXT, ItemKind.VOICE) else ""
    if kind is ItemKind.TEXT and not text.strip():
        return None
    label = label_of(clean(detail.get("file_name"))) if kind is ItemKind.FILE else ""
    return Item(kind=kind, text=text if text.strip() else "", label=label, quote=parse_quote(part.get("ref_msg")))


def _kind(part: dict[str, Any]) -> ItemKind:
    number = as_int(part.get("type"))
    return ItemKind.UNKNOWN if number is None else _KINDS.get(number, ItemKind.UNKNOWN)


def _why_not(part: dict[str, Any]) -> str:
    number = as_int(part.get("type"))
    if number == 1:
        return "empty text"
    if number in _TOOL_PROGRESS:
        return f"tool progress (item type {number})"
    return "unknown item type" if number is None else f"unknown item type {number}"
