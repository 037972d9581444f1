"""After a failover the ledger's clock may be behind: what was due by the old one must not wait until then.

Waking something early is always safe: whoever is woken looks whether it is time.
"""

from __future__ import annotations

from datetime import datetime

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.customer_service.pull import SAFETY_SECONDS
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.clock import boot_seconds

log = logger(__name__)

BACK_SECONDS = 5.0
LATE_SECONDS = 60.0
"""Nothing waits longer for a doorbell of its own; what a clock less far behind delays is late by this at most."""


class ClockBack:
    """Notices, pass by pass, that the clock went back; so may it have before the first pass."""

    def __init__(self) -> None:
        self._last: tuple[float, datetime] | None = None

    def look(self, bridge: Bridge) -> bool:
        """Make due now what the clock would let wait; return whether it went back, or may have, since the last pass."""
        moment, now = boot_seconds(), bridge.clock.now()
        last, self._last = self._last, (moment, now)
        back_seconds = 0.0 if last is None else moment - last[0] - (now - last[1]).total_seconds()
        if last is not None and back_seconds < BACK_SECONDS:
            return False
        _pull(bridge, back_seconds)
        return True


def _pull(bridge: Bridge, back_seconds: float) -> None:
    now, latest = bridge.clock.now(), bridge.clock.after(LATE_SECONDS)
    latest_probe = bridge.clock.after(bridge.settings.poll.probe_most_seconds * 2)
    bridge.due_times.pull_rows(latest, back_seconds)
    found = {
        "channels": bridge.due_times.pull_channels(now, latest, latest_probe),
        "conversations": bridge.due_times.pull_conversations(now, latest),
        "turns": bridge.due_times.pull_turns(now, latest),
        "customer_service": bridge.due_times.pull_services(now, bridge.clock.after(SAFETY_SECONDS)),
    }
    if any(found.values()):
        log.warning("due_times_pulled", back_seconds=round(back_seconds), **found)
