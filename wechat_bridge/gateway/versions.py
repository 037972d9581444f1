"""Which of two versions of a subject is the newer one, and what becomes of an older one that comes late."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime

from wechat_bridge.gateway.templates import KeyMissing, Scalar, exact, render, scalar, shortened
from wechat_bridge.model.event import JsonObject
from wechat_bridge.model.event_rules import DedupeRule
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.event_versions import EventVersionStore

log = logger(__name__)

MOST_DIGITS = 999
MOST_TEXT_CHARACTERS = 256

_NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?", re.ASCII)
_TIME = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}[T ].+", re.ASCII)
_COMPLEMENT = str.maketrans("0123456789", "9876543210")


class Versions:
    """Knows the newest version of each subject, in the ledger."""

    def __init__(self, store: EventVersionStore) -> None:
        self._store = store

    def is_stale(self, rule: DedupeRule, event_type: str, payload: JsonObject) -> bool:
        """Note the version of an event; True when it is older than one before and its rule ignores such.

        The same version again is not older. Numbers compare as numbers, times with a zone as times, all else as text;
        each of these kinds is a line of its own. Raises KeyMissing and LedgerUnavailable.
        """
        found = versioned(rule, payload)
        if found is None or self._store.newer(*found):
            return False
        is_ignored, action = rule.stale == "ignore", {"ignore": "skipped", "process": "processed"}[rule.stale]
        log.info("event_stale", stage="deduplication", action=action, subject=found[0], eventType=event_type)
        return is_ignored

    def forget(self, before: datetime) -> int:
        """Forget subjects without a version since ``before``; return how many. Raises LedgerUnavailable."""
        return self._store.forget(before)


def versioned(rule: DedupeRule, payload: JsonObject) -> tuple[str, str] | None:
    """Return what an event is a version of, and which; None where its type has no versions. Raises KeyMissing.

    Asks nobody, so that an event that lacks something can be refused before anything is done for it.
    """
    if rule.version_field is None:
        return None
    kind, version = sortable(rule.version_field, scalar(payload, rule.version_field))
    return shortened(f"{render(rule.subject, payload)}:{kind}"), version


def sortable(path: str, version: Scalar) -> tuple[str, str]:
    """Return the kind of a version and a text that compares with others of that kind as the version does.

    Raises KeyMissing naming ``path`` for a version that is too long, or no version at all.
    """
    if isinstance(version, bool):
        raise KeyMissing(path, "should be a number, a time or a text")
    written = version if isinstance(version, str) else exact(version)
    number = _NUMBER.fullmatch(written)
    if number:
        return "number", _sortable_number(path, *number.groups(default=""))
    if not isinstance(version, str) or not written or len(written) > MOST_TEXT_CHARACTERS:
        raise KeyMissing(path, "is too long for a version, or empty")
    return _sortable_time(written) or ("text", written)


def _sortable_number(path: str, sign: str, whole: str, fraction: str) -> str:
    """Longer is greater; of the same length the text decides. Below zero it is the other way round."""
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
    if len(whole) + len(fraction) > MOST_DIGITS:
        raise KeyMissing(path, "is too long for a version")
    text = f"{len(whole):03d}{whole}" + (f".{fraction}" if fraction else "")
    return f"-{text.translate(_COMPLEMENT)}~" if sign and (whole or fraction) else text


def _sortable_time(written: str) -> tuple[str, str] | None:
    if _TIME.fullmatch(written):
        with suppress(ValueError, OverflowError):
            at = datetime.fromisoformat(written)
            if at.tzinfo is not None:
                return "time", at.astimezone(UTC).isoformat(timespec="microseconds")
    return None
