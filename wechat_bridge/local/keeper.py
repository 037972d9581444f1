"""Start a process again when it has ended, more and more patiently."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

from wechat_bridge.errors import BridgeError
from wechat_bridge.local.logs import last_line
from wechat_bridge.local.managed import Managed

Tell = Callable[[str], None]
"""Is told in one line what happened, for a person to read."""

FIRST_PAUSE_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 60.0
STEADY_SECONDS = 30.0
"""A process that ran so long is not one that dies at once: its next pause is the first one again."""


class Keeper:
    """Keeps one process running; to be asked often, it never waits. ``now`` is monotonic time in seconds."""

    def __init__(self, process: Managed, tell: Tell, now: Callable[[], float] = time.monotonic) -> None:
        self._process = process
        self._tell = tell
        self._now = now
        self._pause_seconds = FIRST_PAUSE_SECONDS
        self._launched_at = now()
        self._launch_at: float | None = None

    def check(self) -> None:
        """Launch the process when it has ended and its pause is over."""
        if self._process.alive:
            return
        if self._launch_at is None:
            self._plan(f"{self._process.name} ended ({self._why()})")
        elif self._now() >= self._launch_at:
            self._launch()

    def _plan(self, what: str) -> None:
        if self._now() - self._launched_at > STEADY_SECONDS:
            self._pause_seconds = FIRST_PAUSE_SECONDS
        self._launch_at = self._now() + self._pause_seconds
        self._tell(f"{what}, starts again in {self._pause_seconds:.0f} s")
        self._pause_seconds = min(self._pause_seconds * 2, LONGEST_PAUSE_SECONDS)

    def _launch(self) -> None:
        self._launch_at, self._launched_at = None, self._now()
        try:
            self._process.launch()
        except (BridgeError, OSError) as error:
            self._plan(f"{self._process.name} could not be started ({error})")

    def _why(self) -> str:
        """Return how it ended; one that ended by itself has said why in its log."""
        code = self._process.exit_code
        if code is None:
            return "never started"
        if code < 0:
            return signal.Signals(-code).name
        return f"exit code {code}: {last_line(self._process.log)}"
