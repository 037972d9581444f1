"""Logging in: a QR code to scan, and what becomes of it (facts, section 9). Waiting is the caller's business."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from wechat_bridge.channels.http import HttpClient, ReadTimedOut
from wechat_bridge.channels.ilink import wire
from wechat_bridge.channels.ilink.answers import body_of, codes_of, errmsg_of, object_of
from wechat_bridge.channels.ilink.lenient import clean
from wechat_bridge.errors import PlatformUnavailable
from wechat_bridge.model.channel import Account, Login
from wechat_bridge.model.login import QrCode, QrStatus

_WAIT = "wait"
_CONFIRMED = "confirmed"
_BOT_TYPE = 3  # any other is refused with code 2 (issue 252)
_MOST_LOCAL_TOKENS = 10
_CONNECT_SECONDS = 5.0
_FETCH_SECONDS = 15.0
_LONGEST_LINK = 2_000  # more does not fit into a QR code that a terminal can show
_PATIENT_SECONDS = 40.0  # held up to 35 s


class IlinkLogin:
    """QR logins at iLink, from any thread; ``question_seconds`` is how long one question may be held."""

    def __init__(self, http: HttpClient, question_seconds: float) -> None:
        self._http = http
        self._question_seconds = question_seconds

    def fetch_code(self, local_tokens: Sequence[str] = (), base_url: str = wire.DEFAULT_BASE_URL) -> QrCode:
        """Begin a login; see LoginDoor. WeChat is told ten of the tokens at most. Raises PlatformUnavailable."""
        tokens = list(local_tokens[:_MOST_LOCAL_TOKENS])
        response = self._http.post_json(
            wire.url_of(base_url, f"{wire.GET_BOT_QRCODE}?bot_type={_BOT_TYPE}"),
            {"local_token_list": tokens},
            wire.post_headers(),
            connect_seconds=_CONNECT_SECONDS,
            read_seconds=_FETCH_SECONDS,
            total_seconds=_FETCH_SECONDS,
        )
        answer = object_of(body_of(response, "get_bot_qrcode"), "get_bot_qrcode")
        code, link = clean(answer.get("qrcode")), clean(answer.get("qrcode_img_content"))
        if not code or not link or len(link) > _LONGEST_LINK:
            raise _without("a QR code", "get_bot_qrcode", answer, tokens)
        return QrCode(code, link)

    def ask(
        self,
        qrcode: str,
        number: str = "",
        base_url: str = wire.DEFAULT_BASE_URL,
        default_base_url: str = wire.DEFAULT_BASE_URL,
        *,
        is_patient: bool = False,
    ) -> QrStatus:
        """Ask what became of a code; see LoginDoor. WeChat holds the question for some 35 s while nothing happens."""
        seconds = _PATIENT_SECONDS if is_patient else self._question_seconds
        query = f"qrcode={quote(qrcode, safe='')}"
        if number:
            query += f"&verify_code={quote(number, safe='')}"
        try:
            response = self._http.get(
                wire.url_of(base_url, f"{wire.GET_QRCODE_STATUS}?{query}"),
                wire.get_headers(),
                connect_seconds=_CONNECT_SECONDS,
                read_seconds=seconds,
                total_seconds=seconds + _CONNECT_SECONDS,
            )
        except ReadTimedOut:
            return QrStatus(_WAIT, is_held=True)
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
    login = _login(answer, default_base_url) if status == _CONFIRMED else None
    return QrStatus(status, login, clean(answer.get("redirect_host")))


def _login(answer: dict[str, Any], default_base_url: str) -> Login | None:
    token, account_id = clean(answer.get("bot_token")), clean(answer.get("ilink_bot_id"))
    if not token or not account_id:
        return None
    base_url = clean(answer.get("baseurl"))
    account = Account(
        token=token,
        account_id=account_id,
        base_url=base_url if base_url.startswith(("https://", "http://")) else default_base_url,
    )
    # Who scanned is unique among the channels that are online; where it is not told, the bot's own id is as unique.
    return Login(account=account, owner_user_id=clean(answer.get("ilink_user_id")) or account_id)
