"""Versions of the configuration, and what changed between them, as people and machines read them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from wechat_bridge.errors import ConfigurationRefused
from wechat_bridge.flow.configuration.changes import Change, Version
from wechat_bridge.model.configuration import Document, find, path_of

MOST_PLACES = 3
MOST_CHARACTERS = 60


def header(version: Version) -> str:
    """Return what is known about a version, in one line."""
    if version.number == 0:
        return "version 0: the environment alone is in force"
    if version.problem:
        return f"version {version.number}: {version.problem}"
    note = f": {version.note}" if version.note else ""
    return f"version {version.number} by {version.by} at {_time(version.at)}{note}"


def as_fields(version: Version) -> dict[str, Any]:
    """Return a version for machines."""
    fields: dict[str, Any] = {
        "version": version.number, "by": version.by, "at": _time(version.at), "note": version.note,
        "document": version.document,
    }  # fmt: skip
    more = {"problem": version.problem, "changes": version.changes}
    return fields | {name: value for name, value in more.items() if value}


def as_row(version: Version) -> tuple[str, ...]:
    """Return a version for a table."""
    places = list(version.changes[:MOST_PLACES])
    if more := len(version.changes) - len(places):
        places.append(f"and {more} more")
    changed = version.problem or ", ".join(places) or "-"
    return str(version.number), _time(version.at), version.by or "-", version.note or "-", changed


def line_of(change: Change) -> str:
    """Return a change in one line."""
    return f"{change.place}: {_short(change.old)} -> {_short(change.new)}"


def value_at(document: Document, place: str) -> Any:
    """Return what stands at a place. Raises ConfigurationRefused when there is none."""
    try:
        return find(document, path_of(place, document))
    except (LookupError, ValueError):
        raise ConfigurationRefused(
            f"there is no {place}; `wechat-bridge config show settings` shows what there is, and so does `show events`"
        ) from None


def _short(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."


def _time(at: datetime | None) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z") if at else "-"
