"""Inbound messages: as a door hands them over, and as the inbox keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from wechat_bridge.model import keys


class ItemKind(StrEnum):
    """What one part of a message is."""

    TEXT = "text"  # words the person typed
    VOICE = "voice"  # speech; its text is the transcript, where WeChat made one
    IMAGE = "image"  # a picture
    FILE = "file"  # a document; its label is the name the sender gave it
    VIDEO = "video"  # a film
    UNKNOWN = "unknown"  # a type the bridge does not know; kept in the raw body


class InboxState(StrEnum):
    """Where an inbound message stands."""

    PENDING = "pending"  # stored, waits for a turn; many of these for minutes: look at the inbox queue
    IN_TURN = "in_turn"  # belongs to the turn named in turn_id
    DONE = "done"  # answered, or its turn ended on purpose
    SKIPPED = "skipped"  # not to be answered; the reason says why
    FAILED = "failed"  # could not be understood, too many waited, or its turn was given up; the reason says which


MOVES: dict[InboxState, frozenset[InboxState]] = {
    InboxState.PENDING: frozenset({InboxState.IN_TURN, InboxState.SKIPPED, InboxState.FAILED}),
    InboxState.IN_TURN: frozenset({InboxState.DONE, InboxState.SKIPPED, InboxState.FAILED}),
    InboxState.DONE: frozenset(),
    InboxState.SKIPPED: frozenset(),
    InboxState.FAILED: frozenset(),
}
"""What the bridge does by itself. When a person replays a dead turn, its failed rows are in_turn again."""


class Quote(BaseModel):
    """What a message quotes: the text where the platform sent it, else the quoted message's id and excerpt marks."""

    model_config = ConfigDict(frozen=True)

    text: str | None = None
    message_id: str | None = None
    excerpt_start: str = ""
    excerpt_end: str = ""
    start_index: int = 0
    end_index: int = 0
    excerpt_md5: str = ""


class Item(BaseModel):
    """One part of a message. ``label`` is a name shown to people (never a path), ``text`` what is said in it.

    ``problem`` says why its content cannot be read, once somebody has tried.
    """

    model_config = ConfigDict(frozen=True)

    kind: ItemKind
    text: str = ""
    label: str = ""
    quote: Quote | None = None
    problem: str = ""


class InboundMessage(BaseModel):
    """One message as a door hands it over.

    ``state`` is pending, or skipped or failed with a ``reason`` when it is not to be answered. ``raw`` is the JSON text
    of the platform's message, unchanged. ``seq`` orders messages of one instant.
    """

    model_config = ConfigDict(frozen=True)

    message_id: str
    user_id: str
    items: tuple[Item, ...] = ()
    state: InboxState = InboxState.PENDING
    reason: str = ""
    context_token: str = ""
    seq: int = 0
    sent_at: datetime | None = None
    raw: str = ""


class InboxRow(BaseModel):
    """One document of the ``inbox`` collection; ``id`` is ``{share_id}:{message_id}``.

    ``times`` holds when each state but the first began, which is ``received_at``.
    """

    id: str
    share_id: str
    message_id: str
    chat_id: str
    user_id: str
    state: InboxState
    reason: str = ""
    items: tuple[Item, ...] = ()
    raw: str = ""
    context_token: str = ""
    epoch: int
    seq: int = 0
    sent_at: datetime | None = None
    received_at: datetime
    turn_id: str | None = None
    trace_id: str
    source: str
    times: dict[str, datetime] = Field(default_factory=dict)


def inbox_row(message: InboundMessage, share_id: str, epoch: int, received_at: datetime, source: str) -> InboxRow:
    """Return the row under which a message of channel ``share_id`` is kept."""
    return InboxRow(
        id=keys.inbox_id(share_id, message.message_id),
        share_id=share_id,
        chat_id=keys.chat_id(share_id, message.user_id),
        epoch=epoch,
        received_at=received_at,
        trace_id=keys.new_trace_id(),
        source=source,
        **message.model_dump(),
    )


def type_of(items: Iterable[Item]) -> str:
    """Return the kind of a message's parts, ``mixed`` when they differ, ``empty`` when there are none."""
    kinds = sorted({item.kind.value for item in items})
    return kinds[0] if len(kinds) == 1 else "mixed" if kinds else "empty"


def said_at(row: InboxRow) -> datetime:
    """Return when the person said it: the platform's time, but never later than the receipt (clocks go wrong)."""
    return min(row.sent_at or row.received_at, row.received_at)


def in_order(rows: list[InboxRow]) -> list[InboxRow]:
    """Sort rows as the person sent them: by their time, then the platform's sequence, then the id."""
    return sorted(rows, key=lambda row: (said_at(row), row.seq, row.id))
