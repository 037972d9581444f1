"""A conversation: one person with one channel."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from wechat_bridge.model.access import Person, Usage


class Conversation(BaseModel):
    """One document of the ``conversations`` collection; ``id`` is the chat_id.

    ``flush_at`` is when its waiting messages become a turn, never later than ``flush_deadline``; None when none wait.
    ``ring_at`` is when the sweep rings for it. ``rev`` grows with each arrival. ``blocked`` says that messages wait
    behind an open turn, whose end makes them due. ``sends_left`` is the send budget of ``context_token``. Engines are
    told nothing that was said before ``memory_from``; the engine ``engine_name`` calls the conversation
    ``engine_conversation``. ``minute_count`` and ``day_count`` are the messages let in since ``minute_from`` and
    ``day_from``. ``access`` is what was decided about the person. ``overflow_row`` is the first row that was too many
    since anything last waited.
    """

    id: str
    share_id: str
    user_id: str
    rev: int = 0
    waiting: int = 0
    flush_at: datetime | None = None
    flush_deadline: datetime | None = None
    ring_at: datetime | None = None
    rings: int = 0
    blocked: bool = False
    overflow_row: str = ""
    context_token: str = ""
    context_epoch: int = 0
    context_at: datetime | None = None
    context_sent_at: datetime | None = None
    sends_left: int = 0
    memory_from: datetime | None = None
    engine_name: str = ""
    engine_conversation: str = ""
    minute_from: datetime | None = None
    minute_count: int = 0
    day_from: datetime | None = None
    day_count: int = 0
    access: Person = Field(default_factory=Person)

    @property
    def usage(self) -> Usage:
        """How much this person has written lately."""
        return Usage(self.minute_from, self.minute_count, self.day_from, self.day_count)
