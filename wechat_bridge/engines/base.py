"""What the flow asks of a reply engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Question:
    """One turn as an engine sees it. ``turn_id`` is the idempotency key; ``deadline_seconds`` bounds the whole call."""

    turn_id: str
    share_id: str
    chat_id: str
    user_id: str
    text: str
    deadline_seconds: float


@dataclass(frozen=True)
class Answer:
    """What an engine answered. An empty ``text`` means that nothing is to be sent."""

    text: str
    model: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str = ""


class Engine(Protocol):
    """Something that answers questions."""

    name: str

    def answer(self, question: Question) -> Answer:
        """Return the whole answer. Raises EngineUnavailable (may pass) and EngineRefused (will not)."""
        ...
