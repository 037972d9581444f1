"""The entries of ``kf/sync_msg`` to inbox messages. Whatever comes, something that can be stored comes out.

Only what customers say is answered. What a human agent wrote, and events, are kept and say so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from wechat_bridge.channels.wecom.kf_items import item_of, text_in
from wechat_bridge.model.characters import without_lone_surrogates
from wechat_bridge.model.message import InboundMessage, InboxState, Item, ItemKind
from wechat_bridge.model.wecom_kf import Entry

SYSTEM_USER = "sys"
"""Who speaks where an entry names no customer."""

BY_AGENT = "a human agent wrote it"

CUSTOMER, SYSTEM, AGENT = 3, 4, 5
"""The origins of an entry. What we send ourselves does not come back."""

_LONGEST_ID = 256
_EARLIEST = datetime(2011, 1, 1, tzinfo=UTC)
_AHEAD = timedelta(days=1)

Judged = tuple[tuple[Item, ...], InboxState, str]


def entry_of(given: Any, seq: int, now: datetime) -> Entry:
    """Read one element of ``msg_list``. Never raises.

    ``seq`` is its place in the log, which orders what was said within a second; ``now`` is what future times are
    measured by.
    """
    fields: Mapping[str, Any] = given if isinstance(given, dict) else {}
    raw = without_lone_surrogates(json.dumps(given, ensure_ascii=False, separators=(",", ":")))
    event = _event(fields)
    user_id = text_in(fields, "external_userid") or text_in(event, "external_userid")
    items, state, reason = _judged(fields, event)
    if state is InboxState.PENDING and not user_id:
        state, reason = InboxState.FAILED, "no external_userid"
    message = InboundMessage(
        message_id=_message_id(fields, raw),
        user_id=without_lone_surrogates(user_id)[:_LONGEST_ID] or SYSTEM_USER,
        items=items,
        state=state,
        reason=reason,
        seq=seq,
        sent_at=_sent_at(fields, now),
        raw=raw,
    )
    return Entry(message, text_in(event, "event_type"), event)


def _judged(fields: Mapping[str, Any], event: Mapping[str, Any]) -> Judged:
    if event:
        return (), InboxState.SKIPPED, _clean(f"event: {text_in(event, 'event_type')[:100] or 'unnamed'}")
    origin, msgtype = fields.get("origin"), text_in(fields, "msgtype")
    inner = fields.get(msgtype)
    item = item_of(msgtype, inner if isinstance(inner, dict) else {})
    items = (_storable(item),) if item else ()
    if origin == AGENT:
        return items, InboxState.SKIPPED, BY_AGENT
    if origin != CUSTOMER:
        return items, InboxState.SKIPPED, _clean(f"of unknown origin {str(origin)[:100]!r}")
    if item is None:
        return (), InboxState.FAILED, "empty text"
    if item.kind is ItemKind.UNKNOWN:
        return items, InboxState.FAILED, _clean(f"unknown message type {msgtype[:100]!r}")
    return items, InboxState.PENDING, ""


def _event(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of an event; none for a message."""
    event = fields.get("event")
    if text_in(fields, "msgtype") != "event" and fields.get("origin") != SYSTEM:
        return {}
    return event if isinstance(event, dict) and event else {"event_type": "unnamed"}


def _message_id(fields: Mapping[str, Any], raw: str) -> str:
    msgid = text_in(fields, "msgid")
    if msgid and len(msgid) <= _LONGEST_ID and msgid.isascii() and msgid.isprintable():
        return msgid
    return f"fp-{hashlib.sha256(raw.encode()).hexdigest()[:32]}"


def _sent_at(fields: Mapping[str, Any], now: datetime) -> datetime | None:
    """Return send_time, or None if it cannot be true."""
    seconds = fields.get("send_time")
    if not isinstance(seconds, int) or not _EARLIEST.timestamp() <= seconds <= (now + _AHEAD).timestamp():
        return None
    return datetime.fromtimestamp(seconds, UTC)


def _storable(item: Item) -> Item:
    return item.model_copy(update={"text": _clean(item.text), "label": _clean(item.label)})


def _clean(text: str) -> str:
    return without_lone_surrogates(text)
