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
        self._server = server_of(name, settings.url, self._secret, http)

    def answer(self, question: Question) -> Answer:
        """Return the answer. Raises EngineUnavailable and EngineRefused."""
        body = json_body(turn_json(question, self._settings.most_media_bytes))
        deadline = Deadline(question.deadline_seconds)
        with self._server.post("", body, signed_headers(question.turn_id, self._secret, body), deadline) as reply:
            if reply.status == NOTHING_TO_SAY:
                return answer_of(None, self._server.failures)
            if reply.status != 200:
                raise self._server.failures.of_status(reply.status, reply.detail(), reply.headers)
            return answer_of(reply.json(), self._server.failures)

    def needs_link(self, media: Attachment) -> bool:
        """Whether a medium is too large to go along as data."""
        return media.size > self._settings.most_media_bytes


def server_of(name: str, url: str, secret: str, http: EngineHttp) -> EngineServer:
    """Return the server behind a URL of one's own; the values in its query are as secret as ``secret``."""
    in_address = (value for _, value in parse_qsl(urlsplit(url).query))
    return EngineServer(name, url, http, (secret, *in_address))


def signed_headers(turn_id: str, secret: str, body: bytes) -> dict[str, str]:
    """Return the headers of a signed request about a turn."""
    timestamp = str(int(time.time()))
    return {
        "Idempotency-Key": header_value(turn_id),
        TIMESTAMP: timestamp,
        SIGNATURE: signature(secret, timestamp, body),
    }


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return ``sha256=`` and the hexadecimal HMAC-SHA256 of ``{timestamp}.{body}``.

    The other side computes the same, compares, and refuses a timestamp that is more than some minutes old.
    """
    return "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
