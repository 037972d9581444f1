"""A URL of one's own that gets each answer before it goes out, and says whether it may.

It gets ``POST {url}``, signed like the requests of the webhook engine: ``{"turn_id", "share_id", "chat_id", "user_id",
"text"}``, the text as WeChat will show it. It answers with status 200 and ``{"action": "pass"}``, ``{"action":
"refuse"}`` or ``{"action": "replace", "text": "..."}``. Anything else is a failure and no answer; the same turn comes
again then.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from wechat_bridge.engines.deadline import Deadline
from wechat_bridge.engines.failures import Failures, retry_after
from wechat_bridge.engines.http import EngineHttp, Reply, json_body
from wechat_bridge.engines.text import MOST_CHARACTERS
from wechat_bridge.engines.webhook import server_of, signed_headers
from wechat_bridge.errors import EngineRefused

DEADLINE_SECONDS = 10.0


class Action(StrEnum):
    """What a check says of an answer."""

    PASS = "pass"  # it may go out
    REPLACE = "replace"  # another text goes out in its place
    REFUSE = "refuse"  # it may not go out


@dataclass(frozen=True)
class Draft:
    """An answer to be checked; ``turn_id`` stays the same on every attempt."""

    turn_id: str
    share_id: str
    chat_id: str
    user_id: str
    text: str = field(repr=False)


@dataclass(frozen=True)
class Verdict:
    """What the check said; ``text`` is what goes out instead, where it is replaced."""

    action: Action
    text: str = field(default="", repr=False)


class OutgoingWebhook:
    """Asks such URLs. Its errors never carry the text: what the other side says may repeat it."""

    def __init__(self, http: EngineHttp) -> None:
        self._http = http

    def check(self, url: str, secret: str, draft: Draft) -> Verdict:
        """Return what the URL says. Raises EngineUnavailable for everything that is no well-formed answer."""
        body = json_body(asdict(draft))
        server = server_of(f"outgoing check of {draft.share_id}", url, secret, self._http)
        with server.post("", body, signed_headers(draft.turn_id, secret, body), Deadline(DEADLINE_SECONDS)) as reply:
            if reply.status != 200:
                wait = retry_after(reply.headers.get("Retry-After"))
                raise server.failures.unavailable(f"answered with status {reply.status}, not 200", wait)
            return _verdict(_read(reply, server.failures), server.failures)


def _read(reply: Reply, failures: Failures) -> bytes:
    try:
        return reply.read()
    except EngineRefused as error:  # too large, which is no answer either
        raise failures.unavailable("the answer is too large") from error


def _verdict(body: bytes, failures: Failures) -> Verdict:
    try:
        said = json.loads(body.decode())
    except (ValueError, RecursionError):
        raise failures.unavailable("did not answer with JSON in UTF-8") from None
    action = said.get("action") if isinstance(said, dict) else None
    if action not in list(Action):
        raise failures.unavailable("answered without an action; it should be one of pass, replace and refuse")
    text = said.get("text") if action == Action.REPLACE else ""
    if not isinstance(text, str) or len(text) > MOST_CHARACTERS or (action == Action.REPLACE and not text.strip()):
        raise failures.unavailable("replaced the text by none; it should send the new one as text")
    return Verdict(Action(action), text)
