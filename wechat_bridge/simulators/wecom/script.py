"""Answers scripted in advance: what the next calls of a path get instead of the server's own answer."""

from __future__ import annotations

from collections import deque
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from wechat_bridge.simulators.json_types import Json


class ScriptedAnswer(BaseModel):
    """One scripted answer.

    With none of `errcode`, `answer`, `body`, `cut` and `hang` the call is processed as usual and only its answer is
    late, has another status, or breaks off. With one of them it is not processed, unless `process` says so:
    `{"hang": true, "process": true}` is a message that was accepted and whose answer never came.
    """

    model_config = ConfigDict(extra="forbid")

    times: int | None = Field(1, ge=1, description="calls it serves; none: until the script is cleared")
    process: bool = Field(False, description="let the server process the call, then give this answer for it")
    errcode: int | None = Field(None, description="refuse with this code")
    errmsg: str = Field("", description="its text; empty: the usual one with hint and address")
    answer: Json | None = Field(None, description="a JSON object as the body")
    body: str | None = Field(None, description="text as the body, for example the HTML of a proxy")
    status: int = Field(200, ge=100, le=599, description="HTTP status")
    headers: dict[str, str] = Field(default_factory=dict, description="more HTTP headers")
    delay_seconds: float = Field(0.0, ge=0, description="wait before answering, after processing")
    cut: bool = Field(False, description="close the connection without an answer")
    cut_after_bytes: int | None = Field(None, ge=0, description="close the connection after so many bytes of the body")
    hang: bool = Field(False, description="never answer")

    @property
    def processes_call(self) -> bool:
        """Whether the server does with the call what it would have done without a script."""
        replaced = self.errcode is not None or self.answer is not None or self.body is not None
        return self.process or not (replaced or self.cut or self.hang)


class Script:
    """What is scripted, per path and app; an entry for an app goes before one for any app."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], deque[ScriptedAnswer]] = {}

    def add(self, path: str, app: str, entry: ScriptedAnswer) -> None:
        """Append an entry; an empty `app` stands for any."""
        self._entries.setdefault((path, app), deque()).append(entry)

    def clear(self) -> None:
        """Forget every entry."""
        self._entries.clear()

    def take(self, path: str, app: str) -> ScriptedAnswer | None:
        """The entry for the call at hand, used up by one."""
        keys: list[Any] = [key for key in ((path, app), (path, "")) if self._entries.get(key)]
        if not keys:
            return None
        entries = self._entries[keys[0]]
        entry = entries[0]
        if entry.times is not None:
            entry.times -= 1
            if entry.times == 0:
                entries.popleft()
        return entry
