"""Quotes: the four shapes in which iLink has sent ``ref_msg`` over time (facts, 3.3)."""

from __future__ import annotations

from typing import Any

from wechat_bridge.channels.ilink.ids import as_id
from wechat_bridge.channels.ilink.lenient import as_int, as_object, clean
from wechat_bridge.model.message import Quote


def parse_quote(ref_msg: object) -> Quote | None:
    """Return what an item quotes, or None if it quotes nothing.

    The text where the quote carries one; else the id of the quoted message, with the marks of the excerpt; else an
    empty Quote, which says that something was quoted. What the quoted message itself quotes is left out.
    """
    if not isinstance(ref_msg, dict):
        return None
    quoted = as_object(ref_msg.get("message_item"))
    text = _text_of(quoted) or clean(ref_msg.get("title"))
    if text.strip():
        return Quote(text=text)
    message_id = as_id(ref_msg.get("svr_id")) or as_id(quoted.get("msg_id"))
    return Quote() if message_id is None else _excerpt(message_id, as_object(ref_msg.get("partial_text")))


def _text_of(item: dict[str, Any]) -> str:
    texts = (clean(as_object(item.get(part)).get("text")) for part in ("text_item", "voice_item"))
    return next((text for text in texts if text.strip()), "")


def _excerpt(message_id: str, partial: dict[str, Any]) -> Quote:
    return Quote(
        message_id=message_id,
        excerpt_start=clean(partial.get("start")),
        excerpt_end=clean(partial.get("end")),
        start_index=_index(partial.get("startindex")),
        end_index=_index(partial.get("endindex")),
        excerpt_md5=clean(partial.get("quotemd5")).lower(),
    )


def _index(value: object) -> int:
    return max(0, as_int(value) or 0)
