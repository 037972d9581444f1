"""What went wrong with an engine, as an error that says whether to try again, and never a secret."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from wechat_bridge.errors import ConversationBusy, EngineRefused, EngineUnavailable
from wechat_bridge.model.characters import without_lone_surrogates

MASK = "***"
SHORTEST_SECRET = 4
"""Shorter ones would be found in any word."""

MOST_DETAIL_CHARACTERS = 300
LONGEST_RETRY_AFTER_SECONDS = 3600.0
"""An engine that asks for more is asked again after this all the same: its clock may be wrong."""

PASSING_STATUSES = frozenset({408, 409, 425, 429})
"""Of the 4xx, those that say "later": timeout, busy with this conversation, too early, too many."""

NO_MONEY = re.compile(r"insufficient[_ ]quota|insufficient[_ ]balance|provider_quota_exceeded|arrearage", re.IGNORECASE)
"""Said under 429 or 400 by several vendors; waiting does not help."""

PASSING_WORDS = re.compile(
    r"rate.?limit|overload|server_?error|internal|timeout|time out|unavailable|busy|too many", re.IGNORECASE
)
_LOOKS_LIKE_A_KEY = re.compile(
    r"(?i)\b(?:(?:sk|fastgpt|app)-[\w*-]{6,}|(?:bearer|basic)\s+[\w.~+/=@-]{6,})"
    r"|gAAAA[\w-]{40,}={0,2}"  # the token of a link to media, which it could not fetch
)


class Failures:
    """Makes the errors of one engine. ``secrets`` are cut out of whatever the engine says."""

    def __init__(self, name: str, place: str, secrets: Iterable[str] = ()) -> None:
        self._who = f"engine {name} ({place})" if place else f"engine {name}"
        self._secrets = sorted({each for each in secrets if len(each) >= SHORTEST_SECRET}, key=len, reverse=True)

    def unavailable(self, what: str, retry_after_seconds: float | None = None) -> EngineUnavailable:
        """Return the error for what may pass."""
        return EngineUnavailable(f"{self._who}: {self._shown(what)}", retry_after_seconds)

    def busy(self, what: str, retry_after_seconds: float) -> ConversationBusy:
        """Return the error for an engine that has not yet finished an earlier question of the same conversation."""
        return ConversationBusy(f"{self._who}: {self._shown(what)}", retry_after_seconds)

    def refused(self, what: str) -> EngineRefused:
        """Return the error for what will not pass by itself."""
        return EngineRefused(f"{self._who}: {self._shown(what)}")

    def of_status(
        self, status: int, detail: str, headers: Mapping[str, str] | None = None
    ) -> EngineUnavailable | EngineRefused:
        """Return the error that a status of HTTP, or a code with the meaning of one, stands for."""
        said = f"{status} {detail}".strip()
        if NO_MONEY.search(detail):
            return self.refused(f"{said}; the account has no quota left")
        if status >= 500 or status in PASSING_STATUSES:
            return self.unavailable(said, retry_after((headers or {}).get("Retry-After")))
        if status in (401, 403):
            return self.refused(f"{said}; check its key")
        if 300 <= status < 400:
            return self.refused(f"{said}; redirects are not followed: set the address it leads to")
        return self.refused(f"{said}; check its address and settings")

    def of_error(self, error: Any) -> EngineUnavailable | EngineRefused:
        """Return the error for an error object inside an answer that is otherwise fine. Unclear ones may pass."""
        detail = error_text(error)
        code = error.get("status") or error.get("code") if isinstance(error, Mapping) else None
        number = int(str(code)) if str(code).isdecimal() else None
        if number is not None and 400 <= number < 600:
            return self.of_status(number, detail)
        if NO_MONEY.search(detail) or ("invalid" in detail.lower() and not PASSING_WORDS.search(detail)):
            return self.refused(f"error in the answer: {detail}")
        return self.unavailable(f"error in the answer: {detail}")

    def _shown(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        line = " ".join(without_lone_surrogates(_LOOKS_LIKE_A_KEY.sub(MASK, text)).split())
        return line if len(line) <= MOST_DETAIL_CHARACTERS else f"{line[:MOST_DETAIL_CHARACTERS]}…"


def error_text(error: Any) -> str:
    """Return what an error object says: its kind and its message, whatever of both there is."""
    if not isinstance(error, Mapping):
        return str(error or "no reason given")
    inner = error.get("error")
    if isinstance(inner, Mapping) or (isinstance(inner, str) and inner):
        return error_text(inner)
    words = [error.get(key) for key in ("code", "type", "statusText", "message", "msg")]
    said = [str(word) for word in words if isinstance(word, (str, int)) and str(word)]
    return " ".join(dict.fromkeys(said)) or "no reason given"


def retry_after(value: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for, in either of its forms; None when it says nothing."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = _until(value)
    return min(seconds, LONGEST_RETRY_AFTER_SECONDS) if math.isfinite(seconds) and seconds > 0 else None


def _until(value: str) -> float:
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    aware = at if at.tzinfo else at.replace(tzinfo=UTC)
    return (aware - datetime.now(UTC)).total_seconds()
