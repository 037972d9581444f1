"""The console's check of a callback URL: the decrypted echostr, byte for byte, within a second."""

from __future__ import annotations

import time

import aiohttp

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.app import App
from wechat_bridge.simulators.wecom.envelope import new_freshness, signed_query
from wechat_bridge.simulators.wecom.identifiers import random_text
from wechat_bridge.simulators.wecom.sender import CallbackSender

# What the console says, whatever the reason.
CONSOLE_SAYS = "openapi回调地址请求不通过"


async def check_url(sender: CallbackSender, app: App, url: str, timeout_seconds: float) -> Json:
    """Ask a URL. Returns ``{"ok", "status", "seconds", "why", "console"}``; a redirect is a failure."""
    secret, fresh = random_text(19), new_freshness()
    echostr = app.crypto.encrypt(secret.encode(), fresh.random16)
    query = {**signed_query(app.crypto, fresh, echostr), "echostr": echostr}
    started, status = time.monotonic(), 0
    try:
        async with sender.session().get(
            url,
            params=query,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=timeout_seconds),
        ) as response:
            status, body = response.status, await response.read()
    except TimeoutError:
        why = f"no answer within {timeout_seconds:g} s"
    except (aiohttp.ClientError, ValueError) as error:
        why = f"no answer: {type(error).__name__}: {error}"
    else:
        why = _complaint(status, body, secret.encode())
    seconds = round(time.monotonic() - started, 4)
    return {"ok": not why, "status": status, "seconds": seconds, "why": why, "console": CONSOLE_SAYS if why else ""}


def _complaint(status: int, body: bytes, expected: bytes) -> str:
    if status != 200:
        return f"HTTP {status}"
    if body == expected:
        return ""
    if expected in body:
        return "the message has something around it: a quote, a byte order mark or a line end"
    return "the body is not the decrypted message"
