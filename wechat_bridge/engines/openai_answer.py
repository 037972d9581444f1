"""Putting an answer together from what a chat completion sends, whole or in pieces. Whatever is odd is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wechat_bridge.engines.base import Answer
from wechat_bridge.engines.failures import Failures
from wechat_bridge.engines.http import parsed


class Collected:
    """What has been said so far. ``is_complete`` when the server said that this was all."""

    def __init__(self, failures: Failures) -> None:
        self.is_complete = False
        self._failures = failures
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._model = ""
        self._finish_reason = ""
        self._usage: Mapping[str, Any] = {}

    def add_event(self, data: str) -> None:
        """Add one event of a stream. Raises EngineUnavailable and EngineRefused."""
        self._add(parsed(data.encode("utf-8", "replace"), self._failures), "delta")

    def add_whole(self, body: Mapping[str, Any]) -> None:
        """Add an answer that came at once. Raises EngineUnavailable and EngineRefused."""
        self._add(body, "message")
        if not _choice(body):
            raise self._failures.unavailable("answered JSON without choices; check its address")
        self.is_complete = True

    def check_complete(self) -> None:
        """Raise EngineUnavailable when a stream broke off: half an answer is none."""
        if not (self.is_complete or self._finish_reason):
            raise self._failures.unavailable("the stream ended before the answer did")

    def answer(self, model: str) -> Answer:
        """Return all of it; a refusal in words is what the engine wants the person to read."""
        return Answer(
            text="".join(self._texts) or "".join(self._refusals),
            model=self._model or model,
            prompt_tokens=_number(self._usage.get("prompt_tokens")),
            completion_tokens=_number(self._usage.get("completion_tokens")),
            finish_reason=self._finish_reason,
        )

    def _add(self, body: Mapping[str, Any], part: str) -> None:
        if error := body.get("error"):
            raise self._failures.of_error(error)
        choice = _choice(body)
        said = choice.get(part)
        if isinstance(said, Mapping):
            self._texts.append(text_of(said.get("content")))
            self._refusals.append(text_of(said.get("refusal")))
        self._finish_reason = _text(choice.get("finish_reason")) or self._finish_reason
        self._model = _text(body.get("model")) or self._model
        usage = body.get("usage")
        self._usage = usage if isinstance(usage, Mapping) else self._usage


def text_of(content: Any) -> str:
    """Return the text of a content, which is a text or a list of parts; parts that are no text are not shown."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(_part(part) for part in parts if isinstance(part, Mapping))


def _part(part: Mapping[str, Any]) -> str:
    text = part.get("text") if part.get("type") in ("text", "output_text", None) else None
    if isinstance(text, Mapping):  # FastGPT: {"type": "text", "text": {"content": ...}}
        text = text.get("content")
    return _text(text)


def _choice(body: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
