"""The parts of a message, by MsgType (facts, 2b)."""

from __future__ import annotations

from collections.abc import Callable

from wechat_bridge.channels.wecom.xml import Fields, text_in
from wechat_bridge.model.media import label_of
from wechat_bridge.model.message import Item, ItemKind


def item_of(fields: Fields) -> Item | None:
    """Return what a message says; None for a text without words. Types nobody has described are kept as unknown."""
    return _READERS.get(text_in(fields, "MsgType"), _unknown)(fields)


def media_id_of(fields: Fields) -> str:
    """Return the id under which WeCom keeps the file of a message for three days, or ""."""
    return text_in(fields, "MediaId")


def _text(fields: Fields) -> Item | None:
    content = fields.get("Content")
    return Item(kind=ItemKind.TEXT, text=content) if isinstance(content, str) and content.strip() else None


def _voice(fields: Fields) -> Item:
    return Item(kind=ItemKind.VOICE, text=text_in(fields, "Recognition"))


def _file(fields: Fields) -> Item:
    """Read a document: WeCom does not describe it, Tencent's own receiver knows it, in two spellings."""
    name = text_in(fields, "FileName") or text_in(fields, "Filename") or text_in(fields, "Title")
    return Item(kind=ItemKind.FILE, label=label_of(name))


def _location(fields: Fields) -> Item:
    label, latitude, longitude = (text_in(fields, name) for name in ("Label", "Location_X", "Location_Y"))
    place = f"纬度 {latitude}，经度 {longitude}"
    return Item(kind=ItemKind.TEXT, text=f"[位置] {label}（{place}）" if label else f"[位置] {place}")


def _link(fields: Fields) -> Item:
    parts = [text_in(fields, name) for name in ("Title", "Description", "Url")]
    return Item(kind=ItemKind.TEXT, text="\n".join(["[链接] " + parts[0], *filter(None, parts[1:])]).strip())


def _unknown(_: Fields) -> Item:
    return Item(kind=ItemKind.UNKNOWN)


_READERS: dict[str, Callable[[Fields], Item | None]] = {
    "text": _text,
    "image": lambda _: Item(kind=ItemKind.IMAGE),
    "voice": _voice,
    "video": lambda _: Item(kind=ItemKind.VIDEO),
    "file": _file,
    "location": _location,
    "link": _link,
}
