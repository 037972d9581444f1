"""An engine that repeats the question like the echo, but takes its time, so that faults meet it while it thinks."""

from __future__ import annotations

import os
import time

from wechat_bridge.engines.base import Answer, Question

SECONDS_NAME = "SOAK_ENGINE_SECONDS"


class PensiveEngine:
    """Answers with the question after the seconds of the environment."""

    name = "pensive"

    def answer(self, question: Question) -> Answer:
        """Think, then answer."""
        time.sleep(float(os.environ[SECONDS_NAME]))
        return Answer(text=question.text)
