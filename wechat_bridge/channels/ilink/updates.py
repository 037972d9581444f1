"""The answer to ``getupdates``."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from wechat_bridge.channels.base import PollAnswer
from wechat_bridge.channels.ilink.answers import SESSION_TIMEOUT, codes_of, errmsg_of, object_of, session_expired
from wechat_bridge.channels.ilink.lenient import as_number, storable
from wechat_bridge.channels.ilink.parse import parse_message
from wechat_bridge.errors import PlatformUnavailable

LONGEST_HOLD_SECONDS = 100.0
_CALL = "getupdates"


def parse_updates(body: bytes, *, secrets: Iterable[str] = (), now: datetime | None = None) -> PollAnswer:
    """Read the body of an answer with HTTP status 200.

    ``secrets`` are kept out of error texts. Raises SessionExpired (-14 in ``ret`` or ``errcode``) and
    PlatformUnavailable (any other code, no JSON object).
    """
    answer = object_of(body, _CALL)
    codes = codes_of(answer, _CALL)
    if SESSION_TIMEOUT in codes:
        raise session_expired(_CALL)
    if codes:
        said = errmsg_of(answer, secrets) or "no errmsg"
        raise PlatformUnavailable(f"WeChat answered getupdates with code {codes[0]} ({said}); it is tried again")
    cursor = _cursor(answer.get("get_updates_buf"))
    return PollAnswer(
        messages=tuple(parse_message(entry, now) for entry in _entries(answer.get("msgs"))),
        cursor=cursor,
        hold_hint_seconds=_hold_hint(answer.get("longpolling_timeout_ms")),
        suspect=answer.get("msgs") is None and cursor is None,
    )


def _entries(msgs: Any) -> list[Any]:
    """Return the entries of ``msgs``. Something that is no list is kept as one entry, so that it is seen, not lost."""
    if not msgs:
        return []
    return msgs if isinstance(msgs, list) else [msgs]


def _cursor(value: object) -> str | None:
    """Return the cursor, or None for one that is missing, empty, or could not be stored and sent back unchanged."""
    return value if isinstance(value, str) and value and storable(value) == value else None


def _hold_hint(value: object) -> float | None:
    milliseconds = as_number(value)
    return min(milliseconds / 1000, LONGEST_HOLD_SECONDS) if milliseconds is not None and milliseconds > 0 else None
