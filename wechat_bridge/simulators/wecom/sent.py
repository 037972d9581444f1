"""What apps have sent: for recall, for the duplicate check and for cards that are updated."""

from __future__ import annotations

from dataclasses import dataclass

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.codes import ApiError
from wechat_bridge.simulators.wecom.identifiers import random_text

RECALL_SECONDS = 86_400.0
RESPONSE_CODE_SECONDS = 72 * 3_600.0
DUPLICATE_SECONDS = 1_800.0
MOST_DUPLICATE_SECONDS = 14_400.0


@dataclass(frozen=True)
class _Sent:
    app: str
    at: float


class SentMessages:
    """Messages by msgid, bodies by app, response codes of cards."""

    def __init__(self) -> None:
        self._messages: dict[str, _Sent] = {}
        self._bodies: dict[tuple[str, bytes], tuple[float, Json]] = {}
        self._response_codes: dict[str, _Sent] = {}

    def add(self, app: str, now: float) -> str:
        """Note a message; returns its msgid."""
        msgid = random_text(64)
        self._messages[msgid] = _Sent(app, now)
        return msgid

    def check_recall(self, app: str, msgid: object, now: float) -> str:
        """The msgid of a message that may be recalled.

        Raises:
            ApiError: 40058 unknown or another app's, 42052 older than 24 hours.
        """
        sent = self._messages.get(msgid) if isinstance(msgid, str) else None
        if sent is None or sent.app != app:
            raise ApiError(40058, "msgid")
        if now - sent.at > RECALL_SECONDS:
            raise ApiError(42052)
        return str(msgid)

    def earlier(self, app: str, data: bytes, now: float) -> Json | None:
        """The answer to the identical request of this app, if one was shown within its interval."""
        until, answer = self._bodies.get((app, data), (0.0, {}))
        return answer if now < until else None

    def remember(self, app: str, data: bytes, interval_seconds: object, answer: Json, now: float) -> None:
        """Suppress identical requests for a while, 1,800 s if nothing else is said, at most 14,400 s."""
        wanted = interval_seconds if isinstance(interval_seconds, int) and interval_seconds > 0 else DUPLICATE_SECONDS
        self._bodies[app, data] = (now + min(wanted, MOST_DUPLICATE_SECONDS), answer)

    def new_response_code(self, app: str, now: float) -> str:
        """A code with which a card can be updated once, within 72 hours."""
        code = random_text(43)
        self._response_codes[code] = _Sent(app, now)
        return code

    def use_response_code(self, app: str, code: object, now: float) -> None:
        """Use up a code.

        Raises:
            ApiError: 60140, it is unknown, another app's, used or too old.
        """
        sent = self._response_codes.pop(code, None) if isinstance(code, str) else None
        if sent is None or sent.app != app or now - sent.at > RESPONSE_CODE_SECONDS:
            raise ApiError(60140)
