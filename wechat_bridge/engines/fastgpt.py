"""An app of FastGPT: OpenAI's shape, with conversations that remember and errors of its own."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from wechat_bridge.engines.base import Answer, Attachment, Question
from wechat_bridge.engines.deadline import Deadline
from wechat_bridge.engines.fastgpt_messages import is_read, messages_of
from wechat_bridge.engines.http import EngineHttp, EngineServer, Reply, bearer, json_body, said_by
from wechat_bridge.engines.openai_answer import Collected
from wechat_bridge.engines.text import finished
from wechat_bridge.errors import EngineRefused, EngineUnavailable
from wechat_bridge.model.engine import FastGptEngineSettings

LONGEST_CHAT_ID = 249
BUSY_SECONDS = 5.0
"""How long to leave a conversation alone whose last answer is still being written."""

ID_TAKEN = "dataId already exists"
"""How FastGPT refuses a round's id, which it notes before the workflow runs (dataIdValidation.ts)."""

END = "[DONE]"
SAYING = frozenset({"", "answer", "fastAnswer"})
"""Events whose data is an answer; the others of a detailed stream tell how the workflow went."""


class FastGptEngine:
    """Asks ``POST {base_url}/v1/chat/completions`` with the conversation as ``chatId``, the turn as the round."""

    def __init__(self, name: str, settings: FastGptEngineSettings, http: EngineHttp) -> None:
        self.name = name
        self._settings = settings
        self._key = settings.api_key.get_secret_value()
        self._server = EngineServer(name, settings.base_url, http, (self._key,))

    def answer(self, question: Question) -> Answer:
        """Return the whole answer. Raises EngineUnavailable and EngineRefused."""
        settings, failures = self._settings, self._server.failures
        deadline = Deadline(question.deadline_seconds, settings.silence_seconds if settings.stream else None)
        collected = self._ask(question, question.turn_id, deadline)
        if collected is None:
            collected = self._ask(question, f"{question.turn_id}#{secrets.token_hex(8)}", deadline)
        if collected is None:
            raise failures.unavailable(ID_TAKEN)
        return finished(collected.answer(""), failures)

    def needs_link(self, media: Attachment) -> bool:
        """Whether a medium is read by its link: all that is read at all."""
        return is_read(media)

    def _ask(self, question: Question, round_id: str, deadline: Deadline) -> Collected | None:
        """Return what was said, or None when an earlier attempt, whose answer never came, has used the id up."""
        body, headers = self._body(question, round_id), bearer(self._key)
        with self._server.post("/v1/chat/completions", body, headers, deadline) as reply:
            if reply.status == 200:
                return self._collect(reply)
            body = reply.beginning()
            if ID_TAKEN.encode() in body:
                return None
            raise self._failure(reply, body)

    def _body(self, question: Question, round_id: str) -> bytes:
        settings = self._settings
        return json_body({
            "chatId": chat_id(question),
            "responseChatItemId": round_id,
            "messages": messages_of(question),
            "stream": settings.stream,
            "detail": settings.detail,
            "variables": settings.variables,
            "customUid": question.user_id,
            **({"appId": settings.app_id} if settings.app_id else {}),
        })  # fmt: skip

    def _failure(self, reply: Reply, body: bytes) -> EngineUnavailable | EngineRefused:
        """Return the error of an answer whose status is 500 whatever happened: the body's code carries the meaning."""
        with suppress(ValueError, RecursionError):
            value = json.loads(body)
            if isinstance(value, Mapping) and (code := _code(value)):
                return self._coded(code, value, reply.headers)
        return self._server.failures.of_status(reply.status, said_by(body), reply.headers)

    def _coded(
        self, code: int, value: Mapping[str, Any], headers: Mapping[str, str]
    ) -> EngineUnavailable | EngineRefused:
        said = f"{value.get('statusText') or ''} {value.get('message') or ''}".strip()
        if code == 409:
            return self._server.failures.busy(f"409 {said}", BUSY_SECONDS)
        status = code if code < 600 else 400  # its own codes (503002, 514000, ...) are about keys, apps and balance
        return self._server.failures.of_status(status, said if status == code else f"{code} {said}", headers)

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
            if event.name == "error":
                raise self._server.failures.of_error(_as_json(event.data))
            if event.name in SAYING:
                collected.add_event(event.data)
        collected.check_complete()
        return collected


def chat_id(question: Question) -> str:
    """Return the name of a conversation at FastGPT; it changes when the person starts anew."""
    name = f"{question.chat_id}:{question.memory_id}" if question.memory_id else question.chat_id
    if len(name) <= LONGEST_CHAT_ID:
        return name
    return f"wechat_{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()}"


def _code(value: Mapping[str, Any]) -> int | None:
    code = str(value.get("code", ""))
    return int(code) if code.isascii() and code.isdecimal() and 400 <= int(code) < 10**7 else None


def _as_json(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data
