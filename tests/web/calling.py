"""Calls of WeCom's servers at a web process."""

from __future__ import annotations

import time
from typing import Any

import requests

from tests.support.wecom_app import App, parameters
from tests.web.conftest import WebProcess
from wechat_bridge.channels.wecom.callback import Signed, crypto_of

NONCE = "1372623149"


def call(
    web: WebProcess, app: App, plain: Any = b"", *, path: str = "", age_seconds: float = 0.0,
    post: tuple[Signed, bytes] | None = None, seconds: float = 10.0, **query: str,
) -> requests.Response:  # fmt: skip
    """POST a callback, or exactly ``post``; parts of its query may be others, or missing where ""."""
    signed, body = post or app.post(plain, age_seconds)
    url = f"http://127.0.0.1:{web.port}{path or f'/wecom/{app.share_id}'}"
    return requests.post(url, params=_present(parameters(signed) | query), data=body, timeout=seconds)


def check(
    web: WebProcess, app: App, text: str = "", *, sealed: str = "", seconds: float = 10.0, **query: str
) -> requests.Response:
    """Check the callback URL; parts of the query may be others, or missing where ""."""
    crypto = crypto_of(app.account)
    echostr = sealed or crypto.seal(text.encode())
    timestamp = str(int(time.time()))
    signed = Signed(crypto.signature(timestamp, NONCE, echostr), timestamp, NONCE)
    url = f"http://127.0.0.1:{web.port}/wecom/{app.share_id}"
    return requests.get(url, params=_present(parameters(signed) | {"echostr": echostr} | query), timeout=seconds)


def _present(query: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in query.items() if value}
