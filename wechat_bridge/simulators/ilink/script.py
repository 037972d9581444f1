"""Answers scripted in advance: what the next requests to an endpoint get instead of the server's own answer."""

from __future__ import annotations

import base64
import json
from collections import deque
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from wechat_bridge.simulators.ilink.bot import Bot
from wechat_bridge.simulators.ilink.call import Answer


class ScriptedAnswer(BaseModel):
    """One scripted answer.

    With neither an answer of its own (`answer`, `body`, `body_base64`, `raw_base64`) nor `cut` nor `hang`, the request
    is processed as usual and only its answer is late (`delay_seconds`), slow (`drip_seconds`), has another `status` or
    more `headers`, or breaks off (`cut_after_bytes`). With one of them it is not processed, unless `process` says so:
    `{"cut": true, "process": true}` is a message that was accepted and whose answer never came.
    """

    model_config = ConfigDict(extra="forbid")

    times: int | None = Field(1, ge=1, description="requests it serves; none: until the script is cleared")
    process: bool = Field(False, description="let the server process the request, then give this answer for it")
    answer: Any = Field(None, description="a JSON value as the body")
    body: str | None = Field(None, description="text as the body")
    body_base64: str | None = Field(None, description="bytes as the body")
    raw_base64: str | None = Field(None, description="all bytes of the HTTP answer, head included")
    status: int | None = Field(None, ge=100, le=599, description="HTTP status, 200 when there is a body")
    headers: dict[str, str] = Field(default_factory=dict, description="more HTTP headers")
    delay_seconds: float = Field(
        0.0, ge=0, description="wait before processing; with `process`: between that and answering"
    )
    drip_seconds: float = Field(0.0, ge=0, description="write the body byte by byte, one each so many seconds")
    cut: bool = Field(False, description="close the connection without an answer")
    cut_after_bytes: int | None = Field(None, ge=0, description="close the connection after so many bytes of the body")
    hang: bool = Field(False, description="never answer")

    def own_answer(self) -> Answer | None:
        """The answer this script brings along, if it does."""
        body = self._own_body()
        if body is None:
            return None
        headers = {"Content-Type": "application/json" if self.answer is not None else "text/html"}
        return Answer(body, self.status or 200, {**headers, **self.headers})

    @property
    def processes_request(self) -> bool:
        """Whether the server does with the request what it would have done without a script."""
        return self.process or not (self.cut or self.hang or self._own_body() is not None)

    def _own_body(self) -> bytes | None:
        if self.answer is not None:
            return json.dumps(self.answer).encode()
        if self.body_base64 is not None:
            return base64.b64decode(self.body_base64)
        if self.raw_base64 is not None:
            return base64.b64decode(self.raw_base64)
        return self.body.encode() if self.body is not None else None


class Script:
    """What is scripted, per endpoint and bot; an entry for a bot goes before one for any bot."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, Bot | None], deque[ScriptedAnswer]] = {}

    def add(self, endpoint: str, bot: Bot | None, entry: ScriptedAnswer) -> None:
        """Append an entry."""
        self._entries.setdefault((endpoint, bot), deque()).append(entry)

    def clear(self) -> None:
        """Forget every entry."""
        self._entries.clear()

    def pending(self, endpoint: str, bot: Bot | None) -> bool:
        """Whether the next request to this endpoint is scripted."""
        return (endpoint, bot) in self._entries or (endpoint, None) in self._entries

    def take(self, endpoint: str, bot: Bot | None) -> ScriptedAnswer | None:
        """The entry for the request at hand, used up by one."""
        for key in ((endpoint, bot), (endpoint, None)):
            if key in self._entries:
                return self._use(key)
        return None

    def _use(self, key: tuple[str, Bot | None]) -> ScriptedAnswer:
        entries = self._entries[key]
        entry = entries[0]
        if entry.times is not None:
            entry.times -= 1
            if entry.times == 0:
                entries.popleft()
        if not entries:
            del self._entries[key]
        return entry
