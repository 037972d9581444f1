"""The check of a callback URL as WeCom's console makes it, made by ourselves."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlencode

from wechat_bridge.channels.http import HttpClient
from wechat_bridge.channels.wecom.callback import crypto_of
from wechat_bridge.model.wecom import WecomAccount

CONSOLE_SECONDS = 1.0
"""So long WeCom's console waits for the answer (facts, 1)."""

_PATIENCE_SECONDS = 6.0
"""So long we wait, in order to tell slow from away."""


@dataclass(frozen=True, slots=True)
class UrlAnswer:
    """What a callback URL answered, and ``expected``, the bytes that WeCom's console wants to read."""

    status: int
    body: bytes = field(repr=False)
    expected: bytes = field(repr=False)
    location: str
    content_type: str
    seconds: float

    @property
    def is_html(self) -> bool:
        """Whether it is a page for people."""
        start = self.body[:200].lstrip(b"\xef\xbb\xbf \r\n\t").lower()
        return "html" in self.content_type.lower() or start.startswith((b"<!doctype", b"<html"))


def check_url(http: HttpClient, account: WecomAccount, url: str, now: datetime) -> UrlAnswer:
    """Ask a callback URL once, signed with the app's Token and sealed with its key. Follows no redirect.

    Raises HttpError when no complete answer comes within 6 s, and NotConfigured for a key that cannot be one.
    """
    crypto = crypto_of(account)
    expected = str(secrets.randbelow(9 * 10**18) + 10**18).encode()
    timestamp, nonce, echostr = str(int(now.timestamp())), secrets.token_hex(8), crypto.seal(expected)
    signature = crypto.signature(timestamp, nonce, echostr)
    query = urlencode({"msg_signature": signature, "timestamp": timestamp, "nonce": nonce, "echostr": echostr})
    began = time.monotonic()
    answer = http.get(
        f"{url}?{query}",
        {},
        connect_seconds=_PATIENCE_SECONDS,
        read_seconds=_PATIENCE_SECONDS,
        total_seconds=_PATIENCE_SECONDS,
    )
    headers, seconds = answer.headers, time.monotonic() - began
    location, content_type = headers.get("location", ""), headers.get("content-type", "")
    return UrlAnswer(answer.status, answer.body, expected, location, content_type, seconds)
