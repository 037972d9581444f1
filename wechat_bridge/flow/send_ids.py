"""Accepted sends without an id: a run of them means that WeChat takes messages and delivers none (field report 28)."""

from __future__ import annotations

import threading
from collections import Counter

from wechat_bridge.observe import alerts, metrics

SUSPECT_IN_ROW = 5
CAUSE = "sends_without_id"


class SendIds:
    """One per process: how many sends in a row each channel's account accepted without giving an id."""

    def __init__(self) -> None:
        self._without: Counter[str] = Counter()
        self._lock = threading.Lock()

    def note(self, share_id: str, message_id: str | None) -> None:
        """Note an accepted send; a run of those without an id is an alert, which the next id clears."""
        with self._lock:
            before = self._without[share_id]
            self._without[share_id] = 0 if message_id else before + 1
        if message_id:
            if before >= SUSPECT_IN_ROW:
                alerts.clear(CAUSE, share_id)
            return
        metrics.sends_without_id_total.inc()
        if before + 1 >= SUSPECT_IN_ROW:
            advice = (
                "WeChat accepts sends but gives no ids: look on the phone whether they arrive; they are not repeated"
            )
            alerts.raise_(CAUSE, share_id, advice)
