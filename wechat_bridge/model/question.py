"""What a turn asks: the texts of its messages in order, with markers for what is not text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from wechat_bridge.model.message import InboxRow, Item, ItemKind, Quote

MARKERS = {
    ItemKind.IMAGE: "[图片]",
    ItemKind.VOICE: "[语音，无文字]",
    ItemKind.VIDEO: "[视频]",
    ItemKind.FILE: "[文件]",
    ItemKind.UNKNOWN: "[无法显示的内容]",
}
NAMES = {ItemKind.IMAGE: "图片", ItemKind.VOICE: "语音", ItemKind.VIDEO: "视频", ItemKind.FILE: "文件"}
UNREADABLE_QUOTE = "[无法显示的引用]"


def question_text(rows: Iterable[InboxRow]) -> str:
    """Return the question of a turn: one line or more per message, as the person sent them."""
    return "\n".join(items_text(row.items) for row in rows)


def items_text(items: Iterable[Item], *, quotes: bool = True) -> str:
    """Return the text of one message; what it quotes stands before it, apart."""
    return "\n".join(line for item in items for line in _lines(item, quotes))


def _lines(item: Item, quotes: bool) -> list[str]:
    own = item.text or _marker(item)
    quoted = [f"「引用：{item.quote.text or UNREADABLE_QUOTE}」"] if quotes and item.quote else []
    return [*quoted, own] if own else quoted


def _marker(item: Item) -> str:
    """Return what stands for a part that is not text."""
    name = f"{NAMES.get(item.kind, '')} {item.label}".strip()
    if item.problem:
        return f"「{name}{' ' if item.label else ''}无法读取：{item.problem}」"
    return f"[{name}]" if item.label else MARKERS.get(item.kind, "")


def excerpt(text: str, quote: Quote) -> str:
    """Return the part of ``text`` that a quote marks, or all of it.

    The part runs from the ``start_index``-th occurrence of the start to the end of the ``end_index``-th occurrence of
    the end. Whether the latter counts from the beginning of the text or from behind the start varies between clients,
    so both are tried and the one whose MD5 fits is taken.
    """
    if not (quote.excerpt_start and quote.excerpt_end):
        return text
    start = _nth(text, quote.excerpt_start, quote.start_index, 0)
    if start < 0:
        return text
    behind = start + len(quote.excerpt_start)
    ends = [_nth(text, quote.excerpt_end, quote.end_index, 0), _nth(text, quote.excerpt_end, quote.end_index, behind)]
    parts = [text[start : end + len(quote.excerpt_end)] for end in ends if end >= start]
    fitting = [part for part in parts if not quote.excerpt_md5 or _md5(part) == quote.excerpt_md5]
    return fitting[0] if fitting else text


def _nth(text: str, part: str, index: int, begin: int) -> int:
    position = text.find(part, begin)
    for _ in range(index):
        if position < 0:
            return -1
        position = text.find(part, position + 1)
    return position


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
