"""A dead letter: a turn that was given up, with everything needed to understand and replay it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel


class DeadLetter(BaseModel):
    """One document of the ``dead_letters`` collection; ``id`` is the turn id.

    ``original`` holds the messages as they came (their raw JSON text) and as they were understood.
    """

    id: str
    share_id: str
    chat_id: str
    stage: str
    error_class: str
    error: str
    traceback: str
    attempts: int
    original: list[dict[str, Any]]
    trace_id: str
    first_failure_at: datetime
    last_failure_at: datetime
    replayed_at: datetime | None = None
