"""The fields of a callback to one InboundMessage. Whatever comes, something that can be stored and explained comes out.

A message is answered, an event only where the channel's settings say so: 23 of 27 people who merely opened an app got
a message they had not asked for (field report 37).
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from wechat_bridge.channels.wecom.items import item_of
from wechat_bridge.channels.wecom.xml import Fields, text_in
from wechat_bridge.model.message import InboundMessage, InboxState, Item, ItemKind
from wechat_bridge.model.wecom import WecomSettings

SYSTEM_USER = "sys"
"""Who speaks where a callback names nobody; WeCom's own word."""

_USER_ID = re.compile(r"[^\s|\x00-\x1f\x7f]{1,128}")
_NUMBER = re.compile(r"[0-9]{1,20}", re.ASCII)
_LONGEST_ID = 256
_LARGEST_SEQ = 2**63 - 1
_EARLIEST = datetime(2011, 1, 1, tzinfo=UTC)  # the year WeChat began
_AHEAD = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Callback:
    """One callback: the row to be stored, and the text with which its sender is welcomed ("": not at all)."""

    message: InboundMessage
    welcome_text: str = ""


def read_callback(fields: Fields, settings: WecomSettings, now: datetime | None = None) -> Callback:
    """Read the decrypted fields of a callback. Never raises.

    ``now`` (default: this machine's clock) is what future times are measured by.
    """
    user_id = _user_id(fields)
    items, state, reason = _judged(fields, settings)
    if state is InboxState.PENDING and not user_id:
        state, reason = InboxState.FAILED, "no usable FromUserName"
    message = InboundMessage(
        message_id=message_id_of(fields),
        user_id=user_id or SYSTEM_USER,
        items=items,
        state=state,
        reason=reason,
        seq=_seq(fields),
        sent_at=_sent_at(fields, now or datetime.now(UTC)),
        raw=_canonical(fields),
    )
    is_welcomed = bool(user_id) and _event(fields) in settings.welcome_events
    return Callback(message, settings.welcome_text if is_welcomed else "")


def message_id_of(fields: Fields) -> str:
    """Return the key of a callback within its channel; a repeat, however it is encrypted, has the same one.

    Of a message: sender and MsgId, for two people's messages have had the same MsgId (field report 35). Of an event:
    who, when, which, and what tells two clicks of one second apart. Else a fingerprint of all fields.
    """
    sender, number = text_in(fields, "FromUserName"), text_in(fields, "MsgId")
    if not _event(fields):
        return _bounded([sender, number]) if _NUMBER.fullmatch(number) else _fingerprint(_canonical(fields))
    names = ("FromUserName", "CreateTime", "Event", "EventKey")
    told_apart = text_in(fields, "TaskId") or text_in(fields, "ResponseCode") or text_in(fields, "Token")
    parts = [*(text_in(fields, name) for name in names), told_apart]
    is_of_somebody = sender.lower() not in ("", SYSTEM_USER)  # the system makes many events in one second
    if text_in(fields, "Event") and (is_of_somebody or told_apart):
        return _bounded(["ev", *parts])
    return _fingerprint(_canonical(fields))


def _judged(fields: Fields, settings: WecomSettings) -> tuple[tuple[Item, ...], InboxState, str]:
    if event := _event(fields):
        question = _clicked(fields, settings)
        if not question:
            return (), InboxState.SKIPPED, f"event: {event[:100]}"
        return (Item(kind=ItemKind.TEXT, text=question),), InboxState.PENDING, ""
    item = item_of(fields)
    if item is None:
        return (), InboxState.FAILED, "empty text"
    if item.kind is ItemKind.UNKNOWN:
        return (item,), InboxState.FAILED, f"unknown message type {text_in(fields, 'MsgType')[:100]!r}"
    return (item,), InboxState.PENDING, ""


def _event(fields: Fields) -> str:
    """Return the name of an event, "unnamed" for one without, "" for a message."""
    return text_in(fields, "Event") or "unnamed" if text_in(fields, "MsgType") == "event" else ""


def _clicked(fields: Fields, settings: WecomSettings) -> str:
    """Return the question that a menu click asks, or "". WeCom writes ``click``, older versions ``CLICK``."""
    key = text_in(fields, "EventKey")
    if _event(fields).lower() != "click" or not settings.clicks:
        return ""
    return key if settings.clicks is True else settings.clicks.get(key, "")


def _user_id(fields: Fields) -> str:
    """Return the sender. One with ``|`` or ``@all`` would be many people in an answer."""
    sender = text_in(fields, "FromUserName")
    return sender if _USER_ID.fullmatch(sender) and sender.lower() not in ("@all", SYSTEM_USER) else ""


def _bounded(parts: list[str]) -> str:
    """Join parts to an id in which none can pass for two, and which an index can hold."""
    joined = ":".join(quote(part, safe="@./=+-_") for part in parts)
    return joined if len(joined) <= _LONGEST_ID else _fingerprint(joined)


def _fingerprint(text: str) -> str:
    return f"fp-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _canonical(fields: Fields) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _seq(fields: Fields) -> int:
    """Return the MsgId as a number: what orders messages of one second, which is as fine as CreateTime is."""
    number = text_in(fields, "MsgId")
    return min(int(number), _LARGEST_SEQ) if _NUMBER.fullmatch(number) else 0


def _sent_at(fields: Fields, now: datetime) -> datetime | None:
    """Return CreateTime, or None if it cannot be true."""
    written = text_in(fields, "CreateTime")
    seconds = int(written) if _NUMBER.fullmatch(written) else 0
    if not _EARLIEST.timestamp() <= seconds <= (now + _AHEAD).timestamp():
        return None
    return datetime.fromtimestamp(seconds, UTC)
