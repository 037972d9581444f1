"""The parts of a customer's message, by msgtype (facts, 8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wechat_bridge.model.media import label_of
from wechat_bridge.model.message import Item, ItemKind

Fields = Mapping[str, Any]


def item_of(msgtype: str, fields: Fields) -> Item | None:
    """Return what a message says; None for a text without words. Types nobody has described are kept as unknown.

    ``fields`` is the object that the message has under the name of its type.
    """
    return _READERS.get(msgtype, _unknown)(fields)


def media_id_of(message: Fields) -> str:
    """Return the id under which WeCom keeps the file of a message for three days, or ""."""
    fields = message.get(str(message.get("msgtype")))
    return text_in(fields, "media_id") if isinstance(fields, dict) else ""


def text_in(fields: Fields, name: str) -> str:
    """Return a field that is a text or a number as text; "" for any other, and for none."""
    value = fields.get(name)
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _text(fields: Fields) -> Item | None:
    content = fields.get("content")
    return Item(kind=ItemKind.TEXT, text=content) if isinstance(content, str) and content.strip() else None


def _file(fields: Fields) -> Item:
    return Item(kind=ItemKind.FILE, label=label_of(text_in(fields, "filename")))


def _location(fields: Fields) -> Item:
    names = [text_in(fields, name) for name in ("name", "address")]
    place = f"纬度 {text_in(fields, 'latitude')}，经度 {text_in(fields, 'longitude')}"
    label = " ".join(filter(None, names))
    return Item(kind=ItemKind.TEXT, text=f"[位置] {label}（{place}）" if label else f"[位置] {place}")


def _link(fields: Fields) -> Item:
    parts = [text_in(fields, name) for name in ("title", "desc", "url")]
    return Item(kind=ItemKind.TEXT, text="\n".join(["[链接] " + parts[0], *filter(None, parts[1:])]).strip())


def _mini_program(fields: Fields) -> Item:
    return Item(kind=ItemKind.TEXT, text=f"[小程序] {text_in(fields, 'title')}".strip())


def _card(fields: Fields) -> Item:
    return Item(kind=ItemKind.TEXT, text=f"[名片] {text_in(fields, 'userid')}".strip())


def _unknown(_: Fields) -> Item:
    return Item(kind=ItemKind.UNKNOWN)


_READERS: dict[str, Callable[[Fields], Item | None]] = {
    "text": _text,
    "image": lambda _: Item(kind=ItemKind.IMAGE),
    "voice": lambda _: Item(kind=ItemKind.VOICE),
    "video": lambda _: Item(kind=ItemKind.VIDEO),
    "file": _file,
    "location": _location,
    "link": _link,
    "miniprogram": _mini_program,
    "business_card": _card,
}
