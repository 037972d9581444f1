"""Ctrl-C, and what means the same to a command that runs until it is stopped."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any, Self

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSignals:
    """Within this context the first of SIGINT, SIGTERM and SIGHUP raises KeyboardInterrupt; later ones do nothing.

    ``ignore`` is called before cleaning up, so that an impatient second Ctrl-C leaves nothing behind.
    """

    def __init__(self) -> None:
        self._before: dict[signal.Signals, Any] = {}

    def ignore(self) -> None:
        """Let nothing interrupt from now on."""
        for number in STOPPING:
            signal.signal(number, signal.SIG_IGN)

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._stop) for number in STOPPING}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.ignore()
        raise KeyboardInterrupt
