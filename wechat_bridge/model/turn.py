"""A turn: one merged question and its answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from wechat_bridge.model import keys
from wechat_bridge.model.outgoing import CheckRecord, OutgoingRules
from wechat_bridge.model.platform import Platform


class TurnState(StrEnum):
    """Where a turn stands. open is true until its rows are closed too."""

    QUEUED = "queued"  # waits for the reply engine
    GENERATING = "generating"  # a worker asks the engine; see owner and lease_until
    GENERATED = "generated"  # the answer is stored, waits to be sent
    DELIVERING = "delivering"  # a worker sends it
    SENT = "sent"  # WeChat accepted every chunk
    SKIPPED = "skipped"  # nothing to send, on purpose; error says why
    PARKED = "parked"  # waits for a person: their next message, or a login; park_reason says which
    DEAD = "dead"  # given up; see the dead letters, replay from there


class Lane(StrEnum):
    """What a turn may have to wait behind: one turn is open in each lane of a conversation."""

    TALK = "talk"  # questions for the engine
    COMMAND = "command"  # commands to the bridge itself, which may be about the question in work
    NOTICE = "notice"  # sent by an operator, without a question


TERMINAL = frozenset({TurnState.SENT, TurnState.SKIPPED, TurnState.DEAD})

MOVES: dict[TurnState, frozenset[TurnState]] = {
    TurnState.QUEUED: frozenset({TurnState.GENERATING, TurnState.SKIPPED, TurnState.DEAD}),
    TurnState.GENERATING: frozenset({TurnState.QUEUED, TurnState.GENERATED, TurnState.SKIPPED, TurnState.DEAD}),
    TurnState.GENERATED: frozenset({TurnState.DELIVERING, TurnState.PARKED, TurnState.SKIPPED, TurnState.DEAD}),
    TurnState.DELIVERING: frozenset(
        {TurnState.GENERATED, TurnState.SENT, TurnState.PARKED, TurnState.SKIPPED, TurnState.DEAD}
    ),
    TurnState.PARKED: frozenset({TurnState.GENERATED, TurnState.SKIPPED, TurnState.DEAD}),
    TurnState.SENT: frozenset(
        {TurnState.PARKED, TurnState.DEAD}
    ),  # customer service says afterwards what it did not show
    TurnState.SKIPPED: frozenset(),
    TurnState.DEAD: frozenset(),
}
"""What the bridge does by itself. A person may replay a dead turn besides: see ``state_of_replay``."""


class ChunkState(StrEnum):
    """Where one piece of a reply stands."""

    WAITING = "waiting"  # not sent yet
    SENDING = "sending"  # handed to WeChat, outcome unknown: it is sent again under the same client_id
    ACCEPTED = "accepted"  # WeChat took it; it is never sent again


class Chunk(BaseModel):
    """One piece of a reply: a text, or the stored file of ``media_id``.

    ``message_id`` is WeChat's id for it, or None where the answer carried none.
    """

    client_id: str
    text: str
    media_id: str | None = None
    state: ChunkState = ChunkState.WAITING
    message_id: str | None = None
    at: datetime | None = None
    refusals: int = 0


class EngineCall(BaseModel):
    """The record of the engine call that gave the answer; ``attempt`` counts from 1, 0: not recorded."""

    model_config = ConfigDict(frozen=True)

    engine: str
    model: str = ""
    elapsed_ms: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str = ""
    attempt: int = 0


class Turn(BaseModel):
    """One document of the ``processed_messages`` collection.

    ``fence`` grows with each claim and is in the filter of every write that follows from it, so that a late worker
    changes nothing. ``lease_until`` is when others may take over from ``owner``. ``ring_at`` is when the sweep looks at
    the turn (never for a parked or a closed one). ``seen_rev`` is the ``rev`` of the conversation that the
    delivery knew when it was parked: only a newer one releases it. ``times`` holds when each state began.
    ``outgoing`` is what its channel demands of the answer, and ``platform`` what its platform allows, both known to
    the worker that has read the channel, and not stored. ``unchecked`` says that an answer is stored that a webhook
    has yet to check: until then its chunks are its files alone. ``check`` is the record of the outgoing check;
    ``answer`` is then what the person gets to read, without the label.
    """

    id: str
    share_id: str
    chat_id: str
    user_id: str
    lane: Lane = Lane.TALK
    open: bool = True
    message_ids: tuple[str, ...]
    state: TurnState = TurnState.QUEUED
    owner: str | None = None
    claim: str | None = None
    fence: int = 0
    lease_until: datetime | None = None
    generate_attempts: int = 0
    deliver_attempts: int = 0
    releases: int = 0
    next_attempt_at: datetime | None = None
    ring_at: datetime | None = None
    rings: int = 0
    question: str | None = None
    outgoing: OutgoingRules | None = Field(default=None, exclude=True)
    platform: Platform | None = Field(default=None, exclude=True)
    answer: str | None = None
    unchecked: bool = False
    check: CheckRecord | None = None
    engine_call: EngineCall | None = None
    chunks: list[Chunk] = Field(default_factory=list)
    park_reason: str | None = None
    seen_rev: int = 0
    error: str | None = None
    failed_stage: str | None = None
    error_class: str | None = None
    traceback: str | None = None
    apologized: bool = False
    trace_id: str
    times: dict[str, datetime] = Field(default_factory=dict)


def state_of_replay(turn: Turn) -> TurnState:
    """Return the state in which a dead turn is opened again: a stored answer is sent, the engine is not asked twice."""
    return TurnState.GENERATED if turn.chunks or turn.answer else TurnState.QUEUED


def chunks_of(turn_id: str, texts: list[str], media_ids: Sequence[str] = ()) -> list[Chunk]:
    """Return the chunks of a turn, texts first, each with the client_id it will keep on every attempt."""
    pieces: list[tuple[str, str | None]] = [(text, None) for text in texts] + [("", each) for each in media_ids]
    return [
        Chunk(client_id=keys.client_id(turn_id, number), text=text, media_id=media_id)
        for number, (text, media_id) in enumerate(pieces)
    ]
