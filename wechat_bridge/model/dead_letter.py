"""A dead letter: a turn or event that was given up, with everything needed to understand and replay it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel

BROKER_STAGE = "broker"
"""The stage of a message of the broker that no task could be made of."""

TASK_STAGE = "task"
"""The stage of a task that failed and was about no turn."""


EVENT_STAGES = ("parse", "validate", "dispatch")
"""The stages of an event of the gateway."""


class DeadLetter(BaseModel):
    """One document of the ``dead_letters`` collection; ``id`` is the turn id, or names the event by its content.

    ``original`` holds each message as it came (``raw``, its text) and as it was understood; without secrets, and cut
    where it is too long. It waits for somebody until it is replayed or discarded.
    """

    id: str
    share_id: str
    chat_id: str
    stage: str
    event_type: str = ""
    error_class: str
    error: str
    traceback: str
    attempts: int
    original: list[dict[str, Any]]
    trace_id: str
    first_failure_at: datetime
    last_failure_at: datetime
    replayed_at: datetime | None = None
    replayed_by: str | None = None
    discarded_at: datetime | None = None
    discarded_by: str | None = None

    @property
    def is_about_a_turn(self) -> bool:
        """Whether there is a turn to replay."""
        return self.stage not in (BROKER_STAGE, TASK_STAGE, *EVENT_STAGES)

    @property
    def is_about_an_event(self) -> bool:
        """Whether there is an event of the gateway to try again."""
        return self.stage in EVENT_STAGES

    @property
    def waits(self) -> bool:
        """Whether nobody has replayed or discarded it yet."""
        return self.replayed_at is None and self.discarded_at is None
