"""What people see of a dead letter, and which ones they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from wechat_bridge.model.dead_letter import DeadLetter

SHORT = 60
_SPAN = re.compile(r"(\d+)\s*(s|min|m|h|d)")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400}
_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:/\s*s)?")


@dataclass(frozen=True)
class Filter:
    """Which dead letters are meant; what is empty leaves none out."""

    share_id: str = ""
    stage: str = ""
    error: str = ""
    since: datetime | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left out."""
        return self == Filter()

    def takes(self, letter: DeadLetter) -> bool:
        """Whether a letter is meant. ``error`` is a part of the error's class or text, in any case of letters."""
        said = f"{letter.error_class}: {letter.error}".lower()
        return (
            self.share_id in ("", letter.share_id)
            and self.stage in ("", letter.stage)
            and self.error.lower() in said
            and (self.since is None or letter.last_failure_at >= self.since)
        )


def as_fields(letter: DeadLetter) -> dict[str, Any]:
    """Return a letter as JSON values; times are ISO 8601 in UTC."""
    return {
        "id": letter.id,
        "trace_id": letter.trace_id,
        "event_type": letter.event_type,
        "share_id": letter.share_id,
        "chat_id": letter.chat_id,
        "failedStage": letter.stage,
        "error": f"{letter.error_class}: {letter.error}" if letter.error_class else letter.error,
        "stack": letter.traceback,
        "attempts": letter.attempts,
        "timestamp": _iso(letter.last_failure_at),
        "first_failure_at": _iso(letter.first_failure_at),
        "originalMessage": letter.original,
        "replayed_at": _iso(letter.replayed_at),
        "replayed_by": letter.replayed_by,
        "discarded_at": _iso(letter.discarded_at),
        "discarded_by": letter.discarded_by,
    }


def as_row(letter: DeadLetter) -> tuple[str, ...]:
    """Return the columns of the list."""
    fields = as_fields(letter)
    error = str(fields["error"]).replace("\n", " ")
    short = error if len(error) <= SHORT else f"{error[: SHORT - 1]}…"
    return letter.id, letter.stage, str(letter.attempts), str(fields["timestamp"]), short


def moment(text: str, now: datetime) -> datetime:
    """Return the time that ``2h``, ``30min``, ``7d`` (so long ago) or an ISO 8601 time means. Raises ValueError."""
    if span := _SPAN.fullmatch(text.strip()):
        return now - timedelta(seconds=int(span[1]) * _SECONDS[span[2]])
    found = datetime.fromisoformat(text.strip())
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def per_second(text: str) -> float:
    """Return the rate that ``5/s`` or ``0.5`` means. Raises ValueError."""
    found = _RATE.fullmatch(text.strip())
    if found is None or float(found[1]) <= 0:
        raise ValueError(text)
    return float(found[1])


def _iso(time: datetime | None) -> str | None:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") if time else None
