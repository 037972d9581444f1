"""What the simulated engine knows: its script, what it was asked, and its conversations."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from wechat_bridge.simulators.engine.script import ScriptedReply


class EngineOptions(BaseModel):
    """The switches of the simulated engine."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field("", description="the only key that is accepted; empty: any")
    delay_seconds: float = Field(0.0, ge=0, description="wait before every answer")
    piece_seconds: float = Field(0.0, ge=0, description="wait before every piece of a stream")


@dataclass(frozen=True)
class RecordedCall:
    """One request as it came in; header names in lower case. `body` is the JSON object, `data` the bytes."""

    dialect: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    data: bytes = field(repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return what the control API shows."""
        return {"dialect": self.dialect, "path": self.path, "headers": self.headers, "body": self.body}


@dataclass(frozen=True)
class Fetched:
    """What came back for a link in a question; status 0 when nothing did. `promised` is the length its head told."""

    link: str = field(repr=False)
    status: int
    headers: dict[str, str]
    data: bytes = field(repr=False)
    promised: str | None


class World:
    """One server's state; safe from any thread."""

    def __init__(self, options: EngineOptions) -> None:
        self.options = options
        self.conversations: dict[str, str] = {}
        self.rounds: set[tuple[str, str]] = set()
        self.busy: set[str] = set()
        self.uploads: dict[str, bytes] = {}
        self._script: deque[ScriptedReply] = deque()
        self._calls: list[RecordedCall] = []
        self._fetched: list[Fetched] = []
        self._lock = threading.Lock()

    @property
    def calls(self) -> list[RecordedCall]:
        """Everything that was asked so far."""
        with self._lock:
            return list(self._calls)

    def record(self, call: RecordedCall) -> None:
        """Note a request."""
        with self._lock:
            self._calls.append(call)

    @property
    def fetched(self) -> list[Fetched]:
        """Everything that was fetched from links so far."""
        with self._lock:
            return list(self._fetched)

    def note_fetched(self, fetched: Fetched) -> None:
        """Note what a link led to."""
        with self._lock:
            self._fetched.append(fetched)

    def add(self, reply: ScriptedReply) -> None:
        """Append to the script."""
        with self._lock:
            self._script.append(reply.model_copy())

    def take(self) -> ScriptedReply:
        """Return what the request at hand is answered with; the script's next is used up by one."""
        with self._lock:
            if not self._script:
                options = self.options
                return ScriptedReply(delay_seconds=options.delay_seconds, piece_seconds=options.piece_seconds)
            reply = self._script[0]
            if reply.times is not None:
                reply.times -= 1
                if reply.times == 0:
                    self._script.popleft()
            return reply

    def clear(self) -> None:
        """Forget script, calls and conversations."""
        with self._lock:
            self._script.clear()
            self._calls.clear()
            self._fetched.clear()
            for known in (self.conversations, self.rounds, self.busy, self.uploads):
                known.clear()
