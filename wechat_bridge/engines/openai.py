"""Any server that speaks OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wechat_bridge.engines.base import Answer, Attachment, Question
from wechat_bridge.engines.deadline import Deadline
from wechat_bridge.engines.http import EngineHttp, EngineServer, Reply, bearer, header_value, json_body
from wechat_bridge.engines.openai_answer import Collected
from wechat_bridge.engines.openai_messages import messages_of, needs_link
from wechat_bridge.engines.text import finished
from wechat_bridge.model.engine import OpenAiEngineSettings

END = "[DONE]"


class OpenAiEngine:
    """Asks ``POST {base_url}/chat/completions``; remembers nothing, so the history goes along."""

    def __init__(self, name: str, settings: OpenAiEngineSettings, http: EngineHttp) -> None:
        self.name = name
        self._settings = settings
        self._key = settings.api_key.get_secret_value()
        self._server = EngineServer(name, settings.base_url, http, (self._key,))

    def answer(self, question: Question) -> Answer:
        """Return the whole answer. Raises EngineUnavailable and EngineRefused."""
        settings, failures = self._settings, self._server.failures
        deadline = Deadline(question.deadline_seconds, settings.silence_seconds if settings.stream else None)
        with self._server.post("/chat/completions", self._body(question), self._headers(question), deadline) as reply:
            if reply.status != 200:
                raise failures.of_status(reply.status, reply.detail(), reply.headers)
            collected = self._collect(reply)
        return finished(collected.answer(settings.model), failures)

    def needs_link(self, media: Attachment) -> bool:
        """Whether a picture is read by its link or not at all."""
        return needs_link(self._settings, media)

    def _body(self, question: Question) -> bytes:
        settings = self._settings
        body: dict[str, Any] = {"model": settings.model, "messages": messages_of(settings, question)}
        if settings.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return json_body({key: value for key, value in (body | settings.extra).items() if value is not None})

    def _headers(self, question: Question) -> Mapping[str, str]:
        return bearer(self._key) | {"Idempotency-Key": header_value(question.turn_id)}

    def _collect(self, reply: Reply) -> Collected:
        collected = Collected(self._server.failures)
        said = reply.said()
        if isinstance(said, dict):
            collected.add_whole(said)
            return collected
        for event in said:
            if event.data.strip() == END:
                collected.is_complete = True
                reply.finish()
                break
            collected.add_event(event.data)
        collected.check_complete()
        return collected
