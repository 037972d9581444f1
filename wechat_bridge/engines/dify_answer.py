"""Putting an answer together from what Dify sends, whole or in pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wechat_bridge.engines.base import Answer
from wechat_bridge.engines.failures import Failures
from wechat_bridge.engines.http import parsed

SAYING = frozenset({"message", "agent_message"})


class Collected:
    """What has been said so far. ``is_complete`` when Dify said that this was all."""

    def __init__(self, failures: Failures) -> None:
        self.is_complete = False
        self._failures = failures
        self._texts: list[str] = []
        self._conversation = ""
        self._usage: Mapping[str, Any] = {}

    def add_event(self, data: str) -> None:
        """Add one event of a stream; what tells of a workflow's progress is passed over.

        Raises EngineUnavailable and EngineRefused.
        """
        body = parsed(data.encode("utf-8", "replace"), self._failures)
        kind = body.get("event")
        if kind == "error":
            raise self._failures.of_error(body)
        if kind in SAYING:
            self._texts.append(_text(body.get("answer")))
        elif kind == "message_replace":
            self._texts = [_text(body.get("answer"))]
        elif kind == "message_end":
            self.is_complete = True
        self._note(body)

    def add_whole(self, body: Mapping[str, Any]) -> None:
        """Add an answer that came at once. Raises EngineUnavailable and EngineRefused."""
        if error := body.get("error"):
            raise self._failures.of_error(error)
        if "answer" not in body:
            raise self._failures.unavailable("answered JSON without an answer; check its address")
        self._texts.append(_text(body["answer"]))
        self._note(body)
        self.is_complete = True

    def check_complete(self) -> None:
        """Raise EngineUnavailable when a stream broke off: half an answer is none."""
        if not self.is_complete:
            raise self._failures.unavailable("the stream ended before the answer did")

    def answer(self) -> Answer:
        """Return all of it."""
        return Answer(
            text="".join(self._texts),
            prompt_tokens=_number(self._usage.get("prompt_tokens")),
            completion_tokens=_number(self._usage.get("completion_tokens")),
            finish_reason="stop",
            engine_conversation=self._conversation,
        )

    def _note(self, body: Mapping[str, Any]) -> None:
        self._conversation = _text(body.get("conversation_id")) or self._conversation
        metadata = body.get("metadata")
        usage = metadata.get("usage") if isinstance(metadata, Mapping) else None
        self._usage = usage if isinstance(usage, Mapping) else self._usage


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
