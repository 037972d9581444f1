"""Remove what is old: raw bodies and media first, ids and texts later. What unfinished work refers to stays.

After ``inbox.retention_days`` finished messages lose their raw bodies, and all media go; after ``inbox.memory_days``
messages, their turns, resolved dead letters and idle conversations go. An open turn, or a dead letter that waits for
somebody, keeps all it refers to.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.store.retention import MOST

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
"""Nothing in a ledger is older: there was no bridge."""

WINDOWS_A_PASS = 10
NARROWEST = timedelta(seconds=1)
AMONG_MANY = timedelta(hours=6)
"""The widest window in times of which many documents are kept, which the ledger has to walk through as well."""
AMONG_FEW = timedelta(days=8)
"""The widest window in times of which nearly everything has gone."""
REST = timedelta(hours=1)
"""Between two walks through the same times: what was needed then may not be any more."""

Visit = Callable[[Bridge, datetime, datetime], int]
"""Looks after one window of times and returns how many documents it found; with ``MOST`` there may be more in it."""


class Walk:
    """Walks from old times to a cutoff again and again, in windows that grow where little is found."""

    def __init__(self, visit: Visit, widest: timedelta) -> None:
        self._visit = visit
        self._widest = self._width = widest
        self._since: datetime | None = None
        self._rest_until = BEGINNING

    def go_on(self, bridge: Bridge, start: datetime, cutoff: datetime) -> bool:
        """Look after a few windows, or one in which something was found; True when the cutoff is not reached yet."""
        if bridge.clock.now() < self._rest_until:
            return False
        for _ in range(WINDOWS_A_PASS):
            since = self._since or start
            if since >= cutoff:
                self._since, self._rest_until = None, bridge.clock.now() + REST
                return False
            if self._window(bridge, since, min(since + self._width, cutoff)):
                break
        return True

    def _window(self, bridge: Bridge, since: datetime, until: datetime) -> bool:
        """Look after one window; the next one is narrower if it was too full, or too much for the ledger."""
        try:
            found = self._visit(bridge, since, until)
        except LedgerUnavailable:
            self._narrow()
            raise
        if found >= MOST and self._width > NARROWEST:
            self._narrow()
            return False
        self._since = until
        if found < MOST / 2:
            self._width = min(self._widest, self._width * 2)
        return found > 0

    def _narrow(self) -> None:
        self._width = max(NARROWEST, self._width / 8)


class Retention:
    """One per process; several at once are harmless."""

    def __init__(self) -> None:
        self._bodies = Walk(_bodies, AMONG_MANY)
        self._media = Walk(_media, AMONG_FEW)
        self._memories = [Walk(visit, AMONG_FEW) for visit in (_rows, _turns, _letters, _conversations)]

    def go_on(self, bridge: Bridge) -> bool:
        """Do a little of it; True when there is more to look after now."""
        now, inbox = bridge.clock.now(), bridge.settings.inbox
        memory = now - timedelta(days=inbox.memory_days)
        retention = now - timedelta(days=inbox.retention_days)
        is_more = [self._bodies.go_on(bridge, memory, retention), self._media.go_on(bridge, BEGINNING, retention)]
        is_more += [walk.go_on(bridge, BEGINNING, memory) for walk in self._memories]
        return any(is_more)


def _bodies(bridge: Bridge, since: datetime, until: datetime) -> int:
    found = bridge.retention.rows_with_body(since, until)
    return _look_after(bridge, [(row["_id"], row["turn_id"]) for row in found], bridge.retention.strip_rows)


def _media(bridge: Bridge, since: datetime, until: datetime) -> int:
    found = bridge.media.old(since, until)
    return _look_after(bridge, [(row["_id"], row["turn_id"]) for row in found], bridge.media.remove)


def _rows(bridge: Bridge, since: datetime, until: datetime) -> int:
    found = bridge.retention.rows(since, until)
    return _look_after(bridge, [(row["_id"], row["turn_id"]) for row in found], bridge.retention.remove_rows)


def _turns(bridge: Bridge, since: datetime, until: datetime) -> int:
    found = bridge.retention.turns(since, until)
    return _look_after(bridge, [(row["_id"], row["_id"]) for row in found], bridge.retention.remove_turns)


def _letters(bridge: Bridge, since: datetime, until: datetime) -> int:
    found = bridge.retention.letters(since, until)
    failed_at = {row["_id"]: row["last_failure_at"] for row in found}

    def remove(letter_ids: list[str]) -> None:
        for letter_id in letter_ids:
            bridge.retention.remove_letter(letter_id, failed_at[letter_id])

    return _look_after(bridge, [(letter_id, letter_id) for letter_id in failed_at], remove)


def _look_after(bridge: Bridge, found: list[tuple[str, str | None]], remove: Callable[[list[str]], None]) -> int:
    """Remove what belongs to no turn that is needed; return how many there were."""
    turn_ids = {turn_id for _, turn_id in found if turn_id}
    if found:
        needed = bridge.retention.needed(sorted(turn_ids)) if turn_ids else set()
        old = [each for each, turn_id in found if turn_id not in needed]
        if old:
            remove(old)
    return len(found)


def _conversations(bridge: Bridge, since: datetime, until: datetime) -> int:
    found = bridge.retention.conversations(since, until)
    needed = bridge.retention.needed_conversations(row["_id"] for row in found) if found else set()
    for row in found:
        if row["_id"] not in needed:
            bridge.retention.remove_conversation(row["_id"], row["rev"])
    return len(found)
