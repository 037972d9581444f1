"""The engine that repeats the question: for the demo, for tests, and to try a channel without an AI."""

from __future__ import annotations

from wechat_bridge.engines.base import Answer, Question


class EchoEngine:
    """Answers with the question."""

    name = "echo"
    needs_memory = False

    def answer(self, question: Question) -> Answer:
        """Return the question's text as the answer."""
        return Answer(text=question.text, model="echo", finish_reason="stop")
