"""Steps that the ledger or the broker refused, tried again until they succeed or the process ends.

Kept small: a step only belongs here when losing it would leave something owned by a living process. After the process
ends, others see a dead owner and take over, so nothing is lost with the list.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from wechat_bridge.errors import BridgeError, TransientError
from wechat_bridge.observe.logging import logger

log = logger(__name__)

Step = Callable[[], object]


class Unfinished:
    """A list of named steps; the newest step of a name replaces the older one."""

    def __init__(self) -> None:
        self._steps: dict[str, Step] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._steps)

    def get(self, name: str) -> Step | None:
        """Return the step of a name, or None."""
        return self._steps.get(name)

    def add(self, name: str, step: Step) -> None:
        """Keep a step for later."""
        self.change(name, lambda _: step)

    def change(self, name: str, change: Callable[[Step | None], Step]) -> None:
        """Keep for later what becomes of the step of a name, or of None where there is none."""
        with self._lock:
            self._steps[name] = change(self._steps.get(name))

    def work_off(self) -> None:
        """Try the steps in turn, until one fails in a transient way: it goes to the end, the others stay.

        What fails now is likely to fail again at once, and each failure may take seconds that the caller does not have.
        """
        with self._lock:
            steps = list(self._steps.items())
        for name, step in steps:
            try:
                step()
            except TransientError:
                self._put_last(name)
                return
            except BridgeError as error:
                log.warning("unfinished_step_given_up", step=name, error=str(error))
            self._drop(name, step)

    def _put_last(self, name: str) -> None:
        with self._lock:
            if name in self._steps:
                self._steps[name] = self._steps.pop(name)

    def _drop(self, name: str, step: Step) -> None:
        with self._lock:
            if self._steps.get(name) is step:
                del self._steps[name]
