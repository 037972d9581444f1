"""A turn: one merged question and its answer."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from wechat_bridge.model import keys


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


TERMINAL = frozenset({TurnState.SENT, TurnState.SKIPPED, TurnState.DEAD})

MOVES: dict[TurnState, frozenset[TurnState]] = {
    TurnState.QUEUED: frozenset({TurnState.GENERATING, TurnState.DEAD}),
    TurnState.GENERATING: frozenset({TurnState.QUEUED, TurnState.GENERATED, TurnState.SKIPPED, TurnState.DEAD}),
    TurnState.GENERATED: frozenset({TurnState.DELIVERING, TurnState.DEAD}),
    TurnState.DELIVERING: frozenset({TurnState.GENERATED, TurnState.SENT, TurnState.PARKED, TurnState.DEAD}),
    TurnState.PARKED: frozenset({TurnState.GENERATED, TurnState.DEAD}),
    TurnState.SENT: frozenset(),
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
    """One piece of a reply. ``message_id`` is WeChat's id for it, or None where the answer carried none."""

    client_id: str
    text: str
    state: ChunkState = ChunkState.WAITING
    message_id: str | None = None
    at: datetime | None = None


class EngineCall(BaseModel):
    """The record of the engine call that gave the answer."""

    model_config = ConfigDict(frozen=True)

    engine: str
    model: str = ""
    elapsed_ms: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str = ""


class Turn(BaseModel):
    """One document of the ``processed_messages`` collection.

    ``fence`` grows with each claim and is in the filter of every write that follows from it, so that a late worker
    changes nothing. ``lease_until`` is when others may take over from ``owner``. ``ring_at`` is when the sweep looks at
    the turn (never for a parked or a closed one). ``seen_rev`` is the ``rev`` of the conversation that the
    delivery knew when it was parked: only a newer one releases it. ``times`` holds when each state began.
    """

    id: str
    share_id: str
    chat_id: str
    user_id: str
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
    answer: str | None = None
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
    return TurnState.GENERATED if turn.answer and turn.chunks else TurnState.QUEUED


def chunks_of(turn_id: str, texts: list[str]) -> list[Chunk]:
    """Return the chunks of a turn, each with the client_id it will keep on every attempt."""
    return [Chunk(client_id=keys.client_id(turn_id, number), text=text) for number, text in enumerate(texts)]
