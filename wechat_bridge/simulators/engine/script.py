"""Replies scripted in advance: what the next requests get instead of their own question."""

from __future__ import annotations

import base64
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class ScriptedReply(BaseModel):
    """What one request, or the next few, are answered with.

    `body` and `body_base64` replace the whole body of the answer, `error` is put into an otherwise good one.
    """

    model_config = ConfigDict(extra="forbid")

    times: int | None = Field(1, ge=1, description="requests it serves; none: until the script is cleared")
    text: str | None = Field(None, description="what is said; none: the question")
    pieces: list[str] | None = Field(None, description="the same, as the pieces of a stream")
    reasoning: str = Field("", description="thoughts beside the text")
    null: bool = Field(False, description="no content at all")
    refusal: str = Field("", description="a refusal in words (OpenAI)")
    tool_calls: bool = Field(False, description="a call of a tool instead of text (OpenAI)")
    finish_reason: str = "stop"
    error: Any = Field(None, description="an error inside a 200")
    fields: dict[str, Any] = Field(default_factory=dict, description="more fields of a whole answer")
    status: int | None = Field(None, ge=200, le=599, description="HTTP status, with the dialect's own error")
    code: int | None = Field(None, description="code in the body of FastGPT's error")
    message: str = Field("scripted failure", description="text of that error")
    headers: dict[str, str] = Field(default_factory=dict)
    body: str | None = None
    body_base64: str | None = None
    delay_seconds: float = Field(0.0, ge=0, description="wait before the answer")
    piece_seconds: float = Field(0.0, ge=0, description="wait before each piece of a stream")
    drip_seconds: float = Field(0.0, ge=0, description="write the body byte by byte, one each so many seconds")
    cut_after_bytes: int | None = Field(None, ge=0, description="close the connection after so many bytes of the body")
    hang: bool = Field(False, description="never answer")
    unfinished: bool = Field(False, description="end a stream in good order, but without its end mark")

    @property
    def own_body(self) -> bytes | None:
        """The body this script brings along, if it does."""
        if self.body_base64 is not None:
            return base64.b64decode(self.body_base64)
        return self.body.encode() if self.body is not None else None

    def said(self, question: str) -> list[str]:
        """What is said, in pieces."""
        if self.null or self.tool_calls:
            return []
        if self.pieces is not None:
            return self.pieces
        text = question if self.text is None else self.text
        return [text[at : at + 8] for at in range(0, len(text), 8)]
