"""An event: something that reached the bridge from any source, and what became of it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

JsonObject = dict[str, Any]
"""What a parsed payload is, whatever its format was: keys are texts, values are what JSON knows."""

UNKNOWN_TYPE = "unknown"


class EventSource(StrEnum):
    """How an event reached the bridge."""

    HTTP = "http"  # POST /events
    WEBSOCKET = "websocket"  # a frame on /events/ws
    TASK = "task"  # the Celery task ingest_event
    BROKER = "broker"  # a queue or exchange of a message broker


class Envelope(BaseModel):
    """One event as it was received, the same whatever its source.

    ``id`` is the bridge's own and fresh. ``raw_payload`` is what came, unchanged. ``parsed_payload`` is None until it
    has been parsed; after validation it is what its schema made of it. ``timestamp`` is the server's time of receipt.
    Names of ``headers`` are in lower case; secrets are not among them. ``attempt`` counts from 1. ``trace_id`` is that
    of W3C trace context: 32 hex digits.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    source: EventSource
    event_type: str = ""
    content_type: str
    raw_payload: bytes = Field(repr=False)
    parsed_payload: JsonObject | None = Field(default=None, repr=False)
    timestamp: datetime
    validated_at: datetime | None = None
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    attempt: int = 1
    trace_id: str


class EventState(StrEnum):
    """Where an event stands."""

    WAITING = "waiting"  # in a window, for others that belong to it
    QUEUED = "queued"  # to be dispatched; next_attempt_at says when
    DISPATCHING = "dispatching"  # a worker hands it over; see owner and lease_until
    DONE = "done"  # handed over
    MERGED = "merged"  # went on as part of merged_into
    SKIPPED = "skipped"  # goes nowhere, on purpose; reason says why
    DEAD = "dead"  # given up; see the dead letters


class EventWindow(BaseModel):
    """One document of the ``event_windows`` collection: what waits under one key, from ``opened_at`` on.

    ``flush_at`` is when it goes on, never later than ``flush_deadline``; ``blocked``: behind what went on before.
    """

    id: str
    event_type: str
    opened_at: datetime
    rev: int
    waiting: int
    flush_at: datetime | None = None
    flush_deadline: datetime | None = None
    ring_at: datetime | None = None
    rings: int = 0
    blocked: bool = False


ENDED = frozenset({EventState.DONE, EventState.MERGED, EventState.SKIPPED, EventState.DEAD})


class Event(BaseModel):
    """One document of the ``events`` collection: an envelope, or what several of one window were merged into.

    ``dedup_name`` is what its rule calls it, "" where it is like no other. ``dedup_key`` is unique among all documents,
    which is what removes repeats: that name while it is held, until ``dedup_until``, else the event's own id.
    ``window_key`` names the window in which it waits, ``at_once`` that it lets the window end. What came of a window
    has the ids of its ``sources`` (its payload is theirs, merged when it is first dispatched), and ``lane``: of all
    that are ``open`` in a lane there is one. ``claim`` marks who took it last, ``owner`` is that process,
    ``lease_until`` is when others may take over; ``ring_at`` is when the sweep looks at it, None once it has ended.
    ``may_have_effect`` says that an attempt may have reached its target.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    id: str
    source: EventSource
    event_type: str
    content_type: str
    raw_payload: bytes = Field(repr=False)
    payload: JsonObject = Field(repr=False)
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    received_at: datetime
    validated_at: datetime
    order: int = 0
    trace_id: str
    dedup_name: str = ""
    dedup_key: str
    dedup_until: datetime | None = None
    window_key: str | None = None
    at_once: bool = False
    lane: str | None = None
    open: bool = False
    sources: tuple[str, ...] = ()
    merged_into: str | None = None
    state: EventState = EventState.QUEUED
    reason: str = ""
    claim: str | None = None
    owner: str | None = None
    lease_until: datetime | None = None
    attempts: int = 0
    next_attempt_at: datetime | None = None
    ring_at: datetime | None = None
    rings: int = 0
    may_have_effect: bool = False
    error: str = ""
    error_class: str = ""
    traceback: str = ""
    failed_stage: str = ""
    times: dict[str, datetime] = Field(default_factory=dict)


class Status(StrEnum):
    """What whoever sent an event is told."""

    ACCEPTED = "accepted"  # durable; it will be dispatched, or end as a dead letter
    DUPLICATE = "duplicate"  # known already: nothing is done again, and nothing need be sent again
    SKIPPED = "skipped"  # taken, and goes nowhere on purpose; reason says why
    REJECTED = "rejected"  # it will never be taken as it is; error says why
    UNAVAILABLE = "unavailable"  # it could not be kept; send it again later


class FieldError(BaseModel):
    """One fault of a payload: ``path`` like ``user.addresses[0].zip``, "" for the whole."""

    model_config = ConfigDict(frozen=True)

    path: str
    message: str


class Receipt(BaseModel):
    """What became of one event at ingestion. A duplicate is ``known_as`` the event that was taken.

    ``errors`` are all faults found at ``stage``, each with its path.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    status: Status
    event_type: str = ""
    trace_id: str = ""
    known_as: str = ""
    stage: str = ""
    error: str = ""
    errors: tuple[FieldError, ...] = ()
    http_status: int = 202
