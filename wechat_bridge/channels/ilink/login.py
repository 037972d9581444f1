"""Logging in: a QR code to scan, and what becomes of it (facts, section 9). Waiting is the caller's business."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from wechat_bridge.channels.http import HttpClient, ReadTimedOut
from wechat_bridge.channels.ilink import wire
from wechat_bridge.channels.ilink.answers import body_of, codes_of, errmsg_of, object_of
from wechat_bridge.channels.ilink.lenient import clean
from wechat_bridge.errors import PlatformUnavailable
from wechat_bridge.model.channel import Account, Login

WAIT = "wait"
CONFIRMED = "confirmed"
_BOT_TYPE = 3  # any other is refused with code 2 (issue 252)
_MOST_LOCAL_TOKENS = 10
_CONNECT_SECONDS = 5.0
_FETCH_SECONDS = 15.0
_STATUS_READ_SECONDS = 45.0  # held up to 35 s
_STATUS_TOTAL_SECONDS = 60.0
_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class QrCode:
    """A login in progress. ``link`` is what the QR picture must contain, ``qrcode`` the key to ask for its status."""

    qrcode: str = field(repr=False)
    link: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class QrStatus:
    """Where a login stands.

    ``status`` is iLink's own word: ``wait``, ``scaned`` (sic), ``need_verifycode``, ``verify_code_blocked``,
    ``expired``, ``scaned_but_redirect`` (ask ``https://<redirect_host>`` from now on), ``binded_redirect``,
    ``confirmed`` (with the ``login``), or one that is not known yet, to be taken as waiting.
    """

    status: str
    login: Login | None = None
    redirect_host: str | None = None


def fetch_qr(http: HttpClient, local_tokens: Sequence[str] = (), base_url: str = wire.DEFAULT_BASE_URL) -> QrCode:
    """Begin a login. ``local_tokens`` are tokens of bots already here, newest first; ten of them are told to WeChat.

    Raises PlatformUnavailable.
    """
    tokens = list(local_tokens[:_MOST_LOCAL_TOKENS])
    response = http.post_json(
        wire.url_of(base_url, f"{wire.GET_BOT_QRCODE}?bot_type={_BOT_TYPE}"),
        {"local_token_list": tokens},
        wire.post_headers(),
        connect_seconds=_CONNECT_SECONDS,
        read_seconds=_FETCH_SECONDS,
        total_seconds=_FETCH_SECONDS,
    )
    answer = object_of(body_of(response, "get_bot_qrcode"), "get_bot_qrcode")
    code, link = clean(answer.get("qrcode")), clean(answer.get("qrcode_img_content"))
    if not code or not link:
        raise _without("a QR code", "get_bot_qrcode", answer, tokens)
    return QrCode(code, link)


def qr_status(
    http: HttpClient,
    qrcode: str,
    *,
    verify_code: str = "",
    base_url: str = wire.DEFAULT_BASE_URL,
    default_base_url: str = wire.DEFAULT_BASE_URL,
) -> QrStatus:
    """Ask what became of a login; held up to some 35 s while nothing happens, and a read timeout is ``wait``.

    ``verify_code`` is the number shown on the phone. An account whose answer names no base URL of its own gets
    ``default_base_url``. Raises PlatformUnavailable, which a caller that waits takes as ``wait`` too.
    """
    query = f"qrcode={quote(qrcode, safe='')}"
    if verify_code:
        query += f"&verify_code={quote(verify_code, safe='')}"
    try:
        response = http.get(
            wire.url_of(base_url, f"{wire.GET_QRCODE_STATUS}?{query}"),
            wire.get_headers(),
            connect_seconds=_CONNECT_SECONDS,
            read_seconds=_STATUS_READ_SECONDS,
            total_seconds=_STATUS_TOTAL_SECONDS,
        )
    except ReadTimedOut:
        return QrStatus(WAIT)
    answer = object_of(body_of(response, "get_qrcode_status"), "get_qrcode_status")
    status = clean(answer.get("status"))
    if not status:
        raise _without("a status", "get_qrcode_status", answer, [qrcode])
    return _status(status, answer, default_base_url)


def _without(missing: str, call: str, answer: dict[str, Any], secrets: list[str]) -> PlatformUnavailable:
    """Return the error of an answer without what was asked for; only then do codes matter, as in Tencent's client."""
    code = next(iter(codes_of(answer, call)), 0)
    said = errmsg_of(answer, secrets) or "no errmsg"
    return PlatformUnavailable(f"WeChat answered {call} without {missing} (code {code}, {said}); try again")


def _status(status: str, answer: dict[str, Any], default_base_url: str) -> QrStatus:
    host = clean(answer.get("redirect_host"))
    login = _login(answer, default_base_url) if status == CONFIRMED else None
    return QrStatus(status, login, host if _HOST.fullmatch(host) else None)


def _login(answer: dict[str, Any], default_base_url: str) -> Login:
    token, account_id = clean(answer.get("bot_token")), clean(answer.get("ilink_bot_id"))
    if not token or not account_id:
        raise PlatformUnavailable("WeChat confirmed a login without naming the bot and its token; scan a new QR code")
    base_url = clean(answer.get("baseurl"))
    account = Account(
        token=token,
        account_id=account_id,
        base_url=base_url if base_url.startswith(("https://", "http://")) else default_base_url,
    )
    # Who scanned is unique among the channels that are online; where it is not told, the bot's own id is as unique.
    return Login(account=account, owner_user_id=clean(answer.get("ilink_user_id")) or account_id)
