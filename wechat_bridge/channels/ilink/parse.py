"""One iLink message to one InboundMessage. Whatever comes in, something that can be stored and explained comes out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from wechat_bridge.channels.ilink.ids import fingerprint, id_of
from wechat_bridge.channels.ilink.items import parse_items
from wechat_bridge.channels.ilink.lenient import as_int, as_number, clean, compact, storable
from wechat_bridge.model.message import InboundMessage, InboxState, Item

UNKNOWN_USER = "unknown"
LARGEST_MESSAGE_CHARACTERS = 1_000_000
_OWN_MESSAGE = 2
_LONGEST_USER_ID = 256
_INT64 = range(-(2**63), 2**63)
_SECONDS_BELOW = 1e11  # as milliseconds this is 1973, as seconds the year 5138
_EARLIEST = datetime(2011, 1, 1, tzinfo=UTC)  # the year WeChat began
_AHEAD = timedelta(days=1)


def parse_message(raw: object, now: datetime | None = None) -> InboundMessage:
    """Read one entry of ``msgs``, as :func:`lenient.loads` gives it. Never raises.

    Pending when there is something to answer: text, voice (with or without transcript), picture, file, film. Else
    skipped or failed, with the reason. ``now`` (default: this machine's clock) is what future times are measured by.
    """
    text = compact(raw)
    if not isinstance(raw, dict):
        return _unreadable(raw, text, f"not an object but {type(raw).__name__}")
    if len(text) > LARGEST_MESSAGE_CHARACTERS:
        return _unreadable(raw, text, f"message too large ({len(text)} characters)")
    items, state, reason = _judged(raw)
    return InboundMessage(
        message_id=id_of(raw),
        user_id=_user_id(raw) or UNKNOWN_USER,
        items=items,
        state=state,
        reason=reason,
        context_token=_token(raw.get("context_token")),
        seq=_seq(raw.get("seq")),
        sent_at=_sent_at(raw.get("create_time_ms"), now or datetime.now(UTC)),
        raw=text,
    )


def _judged(raw: dict[str, Any]) -> tuple[tuple[Item, ...], InboxState, str]:
    items, nothing = parse_items(raw.get("item_list"))
    if as_int(raw.get("message_type")) == _OWN_MESSAGE:
        return items, InboxState.SKIPPED, "own message"
    reason = nothing if _user_id(raw) else "no usable from_user_id"
    return items, InboxState.FAILED if reason else InboxState.PENDING, reason


def _unreadable(raw: object, text: str, reason: str) -> InboundMessage:
    """Keep what is no message, or larger than a document of the ledger may be; of the latter, the beginning."""
    return InboundMessage(
        message_id=id_of(raw) if isinstance(raw, dict) else fingerprint(raw),
        user_id=_user_id(raw) or UNKNOWN_USER if isinstance(raw, dict) else UNKNOWN_USER,
        state=InboxState.FAILED,
        reason=reason,
        raw=text[:LARGEST_MESSAGE_CHARACTERS],
    )


def _user_id(raw: dict[str, Any]) -> str:
    user_id = clean(raw.get("from_user_id")).strip()
    return user_id if len(user_id) <= _LONGEST_USER_ID else ""


def _token(value: object) -> str:
    return storable(value) if isinstance(value, str) else ""


def _seq(value: object) -> int:
    number = as_int(value)
    return number if number is not None and number in _INT64 else 0


def _sent_at(value: object, now: datetime) -> datetime | None:
    """Return a time given in milliseconds (or seconds, as some servers do), or None if it cannot be true."""
    number = as_number(value)
    if number is None:
        return None
    seconds = number if number < _SECONDS_BELOW else number / 1000
    if not _EARLIEST.timestamp() <= seconds <= (now + _AHEAD).timestamp():
        return None
    return datetime.fromtimestamp(seconds, UTC)
