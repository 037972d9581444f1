"""Callbacks that were kept outside the ledger go before the one that comes now: people said them before."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.flow import spill
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.later import Later
from wechat_bridge.observe.logging import logger

log = logger(__name__)

SUSPECT_SECONDS = 60.0
"""For how long after an outage another process may have spilled callbacks of any channel."""

ASK_SECONDS = 0.25
"""For how long Redis is asked what it holds: it may hang, and the ledger is there."""

QUIET_SECONDS = 10.0
"""For how long a Redis that cannot be used is not asked again: it may hang, and callbacks are to be answered."""

MOST_BATCHES = 500
"""So many are stored before one callback; more would take longer than WeCom waits."""


@dataclass(frozen=True)
class Waiting:
    """What may wait of a channel: the last that this process spilled, and whether Redis holds any; None: unknown."""

    seen: int | None
    is_spilled: bool | None


class Earlier:
    """Which channels may have earlier callbacks outside the ledger, as one process knows; used by any thread.

    Redis is asked only of those: while all is well, one that hangs delays no answer.
    """

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._spilled: dict[str, int] = {}
        self._count = 0
        self._lock = threading.Lock()
        self._asking = Later()
        self._suspect_until = 0.0
        self._quiet_until = 0.0

    def start(self) -> None:
        """Begin."""
        self._asking.start()

    def stop(self) -> None:
        """End."""
        self._asking.stop()

    def note(self, share_id: str) -> None:
        """A callback of a channel was spilled."""
        with self._lock:
            self._count += 1
            self._spilled[share_id] = self._count

    def suspect_all(self) -> None:
        """The ledger was away until now."""
        self._suspect_until = time.monotonic() + SUSPECT_SECONDS

    def look(self, share_id: str, *, is_suspect: bool) -> Waiting | None:
        """Return what is known of earlier ones, None where there is none; it takes ``ASK_SECONDS`` at most."""
        seen, now = self._spilled.get(share_id), time.monotonic()
        if seen is None and not is_suspect and now >= self._suspect_until:
            return None
        if now < self._quiet_until:
            return Waiting(seen, is_spilled=None)
        try:
            return Waiting(seen, self._is_spilled(share_id))
        except BrokerUnavailable as error:
            self._be_quiet(share_id, error)
            return Waiting(seen, is_spilled=None)

    def store(self, share_id: str, waiting: Waiting) -> bool:
        """Store what waits of a channel; False when so much waits that what comes now has to wait behind it.

        Raises LedgerUnavailable.
        """
        is_known = waiting.is_spilled is not None
        try:
            if waiting.is_spilled and not spill.drain_channel(self._bridge, share_id, MOST_BATCHES):
                return False
        except BrokerUnavailable as error:
            self._be_quiet(share_id, error)
            is_known = False
        spill.store_held(self._bridge, share_id)
        if is_known:
            self._forget(share_id, waiting.seen)
        return True

    def _be_quiet(self, share_id: str, error: BrokerUnavailable) -> None:
        self._quiet_until = time.monotonic() + QUIET_SECONDS
        log.warning("spill_unreadable", share_id=share_id, error=str(error))

    def _is_spilled(self, share_id: str) -> bool:
        """Whether Redis holds anything of a channel. Raises BrokerUnavailable, also when it does not say so in time."""
        answers: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._asking.do(lambda: answers.put(self._bridge.spill.peek(share_id) is not None))
        try:
            return answers.get(timeout=ASK_SECONDS)
        except queue.Empty:
            raise BrokerUnavailable("Redis did not say in time what it holds") from None

    def _forget(self, share_id: str, seen: int | None) -> None:
        """Another may have been spilled meanwhile."""
        with self._lock:
            if seen is not None and self._spilled.get(share_id) == seen:
                del self._spilled[share_id]
