"""An engine of another package that notes the wall-clock time at which it is asked, and answers at once."""

from __future__ import annotations

import os
import time

from wechat_bridge.engines.base import Answer, Question

LOG_NAME = "BENCHMARK_ENGINE_LOG"


class ClockEngine:
    """Repeats the question; one line for each call: Unix seconds, a tab, the question."""

    name = "clock"

    def __init__(self) -> None:
        self._log: int | None = None

    def answer(self, question: Question) -> Answer:
        """Note the time, answer."""
        asked_at = time.time()
        if self._log is None:
            self._log = os.open(os.environ[LOG_NAME], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(self._log, f"{asked_at:.6f}\t{question.text}\n".encode())
        return Answer(text=question.text)
