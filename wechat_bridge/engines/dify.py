"""An app of Dify: it names the conversations, and is told the name again with the next question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wechat_bridge.engines.base import Answer, Attachment, Question
from wechat_bridge.engines.deadline import Deadline
from wechat_bridge.engines.dify_answer import Collected
from wechat_bridge.engines.dify_files import files_of, needs_link, user_of
from wechat_bridge.engines.http import EngineHttp, EngineServer, Reply, bearer, json_body
from wechat_bridge.engines.text import finished
from wechat_bridge.model.engine import DifyEngineSettings


class DifyEngine:
    """Asks ``POST {base_url}/chat-messages``; the conversation that it names comes back as ``engine_conversation``."""

    def __init__(self, name: str, settings: DifyEngineSettings, http: EngineHttp) -> None:
        self.name = name
        self._settings = settings
        self._key = settings.api_key.get_secret_value()
        self._server = EngineServer(name, settings.base_url, http, (self._key,))

    def answer(self, question: Question) -> Answer:
        """Return the whole answer; a conversation that is gone is begun anew, once.

        Raises EngineUnavailable and EngineRefused.
        """
        settings = self._settings
        deadline = Deadline(question.deadline_seconds, settings.silence_seconds if settings.stream else None)
        files = files_of(self._server, self._key, question, deadline) if settings.files else []
        collected = self._ask(question, files, question.engine_conversation, deadline)
        if collected is None:
            collected = self._ask(question, files, "", deadline)
        if collected is None:
            raise self._server.failures.refused("404 without a conversation; check its address and settings")
        return finished(collected.answer(), self._server.failures)

    def needs_link(self, media: Attachment) -> bool:
        """Whether a file is read by its link or not at all."""
        return self._settings.files and needs_link(media)

    def _ask(
        self, question: Question, files: list[dict[str, str]], conversation: str, deadline: Deadline
    ) -> Collected | None:
        """Return what was said, or None when there is no such conversation (any more)."""
        body = self._body(question, files, conversation)
        with self._server.post("/chat-messages", body, bearer(self._key), deadline) as reply:
            if reply.status == 404 and conversation:
                return None
            if reply.status != 200:
                raise self._server.failures.of_status(reply.status, reply.detail(), reply.headers)
            return self._collect(reply)

    def _body(self, question: Question, files: list[dict[str, str]], conversation: str) -> bytes:
        body: Mapping[str, Any] = {
            "query": question.text,
            "inputs": self._settings.inputs,
            "user": user_of(question),
            "response_mode": "streaming" if self._settings.stream else "blocking",
            "conversation_id": conversation,
            "files": files,
            "auto_generate_name": False,
        }
        return json_body(body)

    def _collect(self, reply: Reply) -> Collected:
        collected = Collected(self._server.failures)
        said = reply.said()
        if isinstance(said, dict):
            collected.add_whole(said)
            return collected
        for event in said:
            collected.add_event(event.data)
            if collected.is_complete:
                reply.finish()
                break
        collected.check_complete()
        return collected
