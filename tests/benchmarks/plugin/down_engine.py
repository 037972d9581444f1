"""An engine of another package that cannot be reached."""

from __future__ import annotations

from wechat_bridge.engines.base import Answer, Question
from wechat_bridge.errors import EngineUnavailable


class DownEngine:
    """Fails at once, whatever it is asked."""

    name = "down"

    def answer(self, question: Question) -> Answer:
        """Fail."""
        raise EngineUnavailable(f"connection refused ({question.turn_id})")
