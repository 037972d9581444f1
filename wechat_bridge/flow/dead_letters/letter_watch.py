"""Tell the operator when dead letters pile up, or one waits too long for somebody to look at it."""

from __future__ import annotations

import time
from datetime import timedelta

from wechat_bridge.flow.context import Bridge
from wechat_bridge.observe import alerts

EVERY_SECONDS = 60.0
PILE = "dead_letters_pile_up"
OLD = "dead_letter_waits_long"


class LetterWatch:
    """One per sweeping process; remembers whom it has told about."""

    def __init__(self) -> None:
        self._looked_at = float("-inf")
        self._told: set[tuple[str, str]] = set()

    def look(self, bridge: Bridge) -> None:
        """Raise and clear alerts once a minute, by channel, by stage where there is none. Raises LedgerUnavailable."""
        if time.monotonic() - self._looked_at < EVERY_SECONDS:
            return
        causes = _causes(bridge)
        for cause, source in self._told - causes.keys():
            alerts.clear(cause, source)
        for (cause, source), detail in causes.items():
            alerts.raise_(cause, source, f"{detail}; look into them: wechat-bridge dead list")
        self._told = set(causes)
        self._looked_at = time.monotonic()


def _causes(bridge: Bridge) -> dict[tuple[str, str], str]:
    limits = bridge.settings.dead_letters
    oldest_allowed = bridge.clock.now() - timedelta(hours=limits.most_hours)
    found: dict[tuple[str, str], str] = {}
    for source, times in bridge.dead_letters.waiting().items():
        if len(times) > limits.most_waiting:
            found[PILE, source] = f"{len(times)} dead letters wait"
        if min(times) < oldest_allowed:
            found[OLD, source] = f"a dead letter waits since {min(times):%Y-%m-%d %H:%M} UTC"
    return found
