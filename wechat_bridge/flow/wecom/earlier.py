"""Callbacks that were kept outside the ledger go before the one that comes now: people said them before."""

from __future__ import annotations

import threading
import time

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.flow import spill
from wechat_bridge.flow.context import Bridge
from wechat_bridge.observe.logging import logger

log = logger(__name__)

SUSPECT_SECONDS = 60.0
"""For how long after an outage another process may have spilled callbacks of any channel."""

QUIET_SECONDS = 10.0
"""For how long a Redis that cannot be used is not asked again: it may hang, and callbacks are to be answered."""

MOST_BATCHES = 500
"""So many are stored before one callback; more would take longer than WeCom waits."""


class Earlier:
    """Which channels may have earlier callbacks outside the ledger, as one process knows; used by any thread.

    Redis is asked only of those: while all is well, one that hangs delays no answer.
    """

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._spilled: dict[str, int] = {}
        self._count = 0
        self._lock = threading.Lock()
        self._suspect_until = 0.0
        self._quiet_until = 0.0

    def note(self, share_id: str) -> None:
        """A callback of a channel was spilled."""
        with self._lock:
            self._count += 1
            self._spilled[share_id] = self._count

    def suspect_all(self) -> None:
        """The ledger was away until now."""
        self._suspect_until = time.monotonic() + SUSPECT_SECONDS

    def store(self, share_id: str, *, is_suspect: bool) -> bool:
        """Store what waits of a channel; False when so much waits that what comes now has to wait behind it.

        Raises LedgerUnavailable.
        """
        seen, now = self._spilled.get(share_id), time.monotonic()
        if seen is None and not is_suspect and now >= self._suspect_until:
            return True
        if now >= self._quiet_until:
            try:
                if not spill.drain_channel(self._bridge, share_id, MOST_BATCHES):
                    return False
            except BrokerUnavailable as error:
                self._quiet_until = time.monotonic() + QUIET_SECONDS
                log.warning("spill_unreadable", share_id=share_id, error=str(error))
        spill.store_held(self._bridge, share_id)
        if time.monotonic() >= self._quiet_until:
            self._forget(share_id, seen)
        return True

    def _forget(self, share_id: str, seen: int | None) -> None:
        """Another may have been spilled meanwhile."""
        with self._lock:
            if seen is not None and self._spilled.get(share_id) == seen:
                del self._spilled[share_id]
