"""Doorbells of the gateway that ring after the answer: a Redis that hangs delays nobody who sends an event."""

from __future__ import annotations

from functools import partial

from wechat_bridge.flow.later import Later
from wechat_bridge.gateway.context import EventDoorbells


class AfterAnswer:
    """Rings in a thread of its own. A doorbell that finds no room, or no Redis, is made up for by the sweep."""

    def __init__(self, doorbells: EventDoorbells, later: Later) -> None:
        self._doorbells = doorbells
        self._later = later

    def ring_window(self, key: str, delay_seconds: float = 0) -> None:
        """Ask that what waits under a key goes on."""
        self._later.do(partial(self._doorbells.ring_window, key, delay_seconds))

    def ring_dispatch(self, event_id: str, delay_seconds: float = 0) -> None:
        """Ask that an event is handed over."""
        self._later.do(partial(self._doorbells.ring_dispatch, event_id, delay_seconds))

    def ring_dead_event(self, event_id: str) -> None:
        """Ask that an event that was given up is recorded."""
        self._later.do(partial(self._doorbells.ring_dead_event, event_id))

    def waiting(self, queue: str) -> int:
        """Return how many doorbells wait in a queue. Raises BrokerUnavailable."""
        return self._doorbells.waiting(queue)
