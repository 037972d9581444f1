"""A URL of one's own that gets each turn as JSON and returns the answer; see ``turn_json`` for both."""

from __future__ import annotations

import hashlib
import hmac
import time
from urllib.parse import parse_qsl, urlsplit

from wechat_bridge.engines.base import Answer, Attachment, Question
from wechat_bridge.engines.deadline import Deadline
from wechat_bridge.engines.http import EngineHttp, EngineServer, header_value, json_body
from wechat_bridge.engines.turn_json import answer_of, turn_json
from wechat_bridge.model.engine import WebhookEngineSettings

TIMESTAMP = "X-Wechat-Bridge-Timestamp"
SIGNATURE = "X-Wechat-Bridge-Signature"
NOTHING_TO_SAY = 204


class WebhookEngine:
    """Asks ``POST {url}``, signed; the same turn id may come again when an attempt failed."""

    def __init__(self, name: str, settings: WebhookEngineSettings, http: EngineHttp) -> None:
        self.name = name
        self._settings = settings
        self._secret = settings.secret.get_secret_value()
        in_address = (value for _, value in parse_qsl(urlsplit(settings.url).query))
        self._server = EngineServer(name, settings.url, http, (self._secret, *in_address))

    def answer(self, question: Question) -> Answer:
        """Return the answer. Raises EngineUnavailable and EngineRefused."""
        body = json_body(turn_json(question, self._settings.most_media_bytes))
        deadline = Deadline(question.deadline_seconds)
        with self._server.post("", body, self._headers(question, body), deadline) as reply:
            if reply.status == NOTHING_TO_SAY:
                return answer_of(None, self._server.failures)
            if reply.status != 200:
                raise self._server.failures.of_status(reply.status, reply.detail(), reply.headers)
            return answer_of(reply.json(), self._server.failures)

    def needs_link(self, media: Attachment) -> bool:
        """Whether a medium is too large to go along as data."""
        return media.size > self._settings.most_media_bytes

    def _headers(self, question: Question, body: bytes) -> dict[str, str]:
        timestamp = str(int(time.time()))
        return {
            "Idempotency-Key": header_value(question.turn_id),
            TIMESTAMP: timestamp,
            SIGNATURE: signature(self._secret, timestamp, body),
        }


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return ``sha256=`` and the hexadecimal HMAC-SHA256 of ``{timestamp}.{body}``.

    The other side computes the same, compares, and refuses a timestamp that is more than some minutes old.
    """
    return "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
