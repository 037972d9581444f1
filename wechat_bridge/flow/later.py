"""Small steps for which nobody should have to wait for an answer, done by a thread of their own right after.

Only what is made up for when it is lost: a doorbell (the sweep rings) or a note.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from wechat_bridge.errors import BridgeError
from wechat_bridge.observe.logging import logger

log = logger(__name__)

Step = Callable[[], object]

MOST_STEPS = 1_000
"""While Redis hangs, steps pile up; what does not fit is left undone."""

STOP_SECONDS = 3.0


class Later:
    """One thread and what it has yet to do."""

    def __init__(self, most_steps: int = MOST_STEPS) -> None:
        self._steps: queue.Queue[Step | None] = queue.Queue(most_steps)
        self._thread = threading.Thread(target=self._run, name="later", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Do what is left, within seconds, and end."""
        try:
            self._steps.put(None, timeout=STOP_SECONDS)
        except queue.Full:
            return
        self._thread.join(STOP_SECONDS)

    def do(self, step: Step) -> bool:
        """Have a step done; False when there is no room."""
        try:
            self._steps.put_nowait(step)
        except queue.Full:
            return False
        return True

    def _run(self) -> None:
        while (step := self._steps.get()) is not None:
            try:
                step()
            except BridgeError as error:
                log.warning("later_step_failed", error=str(error))
