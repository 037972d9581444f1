"""Steps that the ledger or the broker refused, tried again until they succeed or the process ends.

Kept small: a step only belongs here when losing it would leave something owned by a living process. After the process
ends, others see a dead owner and take over, so nothing is lost with the list.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from wechat_bridge.errors import TransientError


class Unfinished:
    """A list of named steps; the newest step of a name replaces the older one."""

    def __init__(self) -> None:
        self._steps: dict[str, Callable[[], None]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._steps)

    def add(self, name: str, step: Callable[[], None]) -> None:
        """Keep a step for later."""
        with self._lock:
            self._steps[name] = step

    def work_off(self) -> None:
        """Try every step once; those that fail in a transient way stay."""
        with self._lock:
            steps = list(self._steps.items())
        for name, step in steps:
            try:
                step()
            except TransientError:
                continue
            with self._lock:
                if self._steps.get(name) is step:
                    del self._steps[name]
