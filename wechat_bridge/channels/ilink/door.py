"""The door to personal WeChat: long polls and sends of one account at a time."""

from __future__ import annotations

from typing import Any

from wechat_bridge.channels.base import PollAnswer, PollCut
from wechat_bridge.channels.http import CallCut, HttpClient, ReadTimedOut
from wechat_bridge.channels.ilink import wire
from wechat_bridge.channels.ilink.answers import (
    SESSION_TIMEOUT,
    body_of,
    codes_of,
    errmsg_of,
    object_of,
    session_expired,
)
from wechat_bridge.channels.ilink.ids import as_id
from wechat_bridge.channels.ilink.lenient import storable
from wechat_bridge.channels.ilink.typing import IlinkTyping
from wechat_bridge.channels.ilink.updates import LONGEST_HOLD_SECONDS, parse_updates
from wechat_bridge.errors import PlatformBusy, SendRefused
from wechat_bridge.model.channel import Account

_CONNECT_SECONDS = 5.0
_HOLD_SLACK_SECONDS = 10.0  # a timeout equal to the hold loses the race every time (issues 75 and 267)
_SEND_SECONDS = 15.0
_RATE_LIMITED = -13
_RATE_LIMIT_PAUSE_SECONDS = 60.0


class IlinkDoor:
    """Speaks iLink for any account, from any thread.

    ``default_hold_seconds`` is how long a server is taken to hold a poll before it has said so, ``poll_total_seconds``
    what a poll may take in all, whatever the server sends.
    """

    def __init__(
        self, http: HttpClient, *, default_hold_seconds: float = 35.0, poll_total_seconds: float = 120.0
    ) -> None:
        self._http = http
        self._typing = IlinkTyping(http)
        self._default_hold_seconds = default_hold_seconds
        self._poll_total_seconds = poll_total_seconds

    def poll(self, account: Account, cursor: str, hold_hint_seconds: float | None) -> PollAnswer:
        """Wait for messages after ``cursor``; see PollingDoor.

        The read timeout is the hold the server announced plus 10 s.
        """
        try:
            answer = self._http.post_json(
                wire.url_of(account.base_url, wire.GET_UPDATES),
                {"get_updates_buf": cursor, "base_info": wire.base_info()},
                wire.post_headers(account.token),
                connect_seconds=_CONNECT_SECONDS,
                read_seconds=self._read_seconds(hold_hint_seconds or self._default_hold_seconds),
                total_seconds=self._poll_total_seconds,
            )
        except ReadTimedOut:
            return PollAnswer()
        except CallCut as error:
            raise PollCut(str(error)) from None
        return parse_updates(body_of(answer, "getupdates"), secrets=[account.token])

    def _read_seconds(self, hold_seconds: float) -> float:
        """Return how long to bear silence: less than the total time, so that a quiet poll is not taken for a drip."""
        most = max(self._poll_total_seconds - _CONNECT_SECONDS, self._poll_total_seconds / 2)
        return min(min(hold_seconds, LONGEST_HOLD_SECONDS) + _HOLD_SLACK_SECONDS, most)

    def send_text(self, account: Account, user_id: str, text: str, client_id: str, context_token: str) -> str | None:
        """Send one text; see PollingDoor. Every failure of the transport leaves the outcome unknown."""
        answer = self._http.post_json(
            wire.url_of(account.base_url, wire.SEND_MESSAGE),
            {"msg": _text_message(user_id, text, client_id, context_token), "base_info": wire.base_info()},
            wire.post_headers(account.token),
            connect_seconds=_CONNECT_SECONDS,
            read_seconds=_SEND_SECONDS,
            total_seconds=_SEND_SECONDS,
        )
        sent = object_of(body_of(answer, "sendmessage"), "sendmessage")
        _check_accepted(sent, (account.token, context_token))
        return as_id(sent.get("message_id"))

    def set_typing(self, account: Account, user_id: str, *, is_typing: bool) -> None:
        """Show or cancel the typing indicator; see PollingDoor."""
        self._typing.set(account, user_id, is_typing=is_typing)


def _text_message(user_id: str, text: str, client_id: str, context_token: str) -> dict[str, Any]:
    """Return a finished (state 2) bot message (type 2) with one item: two in one request are refused (PR 282)."""
    message: dict[str, Any] = {
        "from_user_id": "",
        "to_user_id": user_id,
        "client_id": client_id,
        "message_type": 2,
        "message_state": 2,
        "item_list": [{"type": 1, "text_item": {"text": storable(text)}}],
    }
    return {**message, "context_token": context_token} if context_token else message


def _check_accepted(answer: dict[str, Any], secrets: tuple[str, ...]) -> None:
    """Raise what a refusing answer means. No code at all is success: ``{}`` has been seen."""
    codes = codes_of(answer, "sendmessage")
    if not codes:
        return
    if SESSION_TIMEOUT in codes:
        raise session_expired("sendmessage")
    errmsg = errmsg_of(answer, secrets)
    if _RATE_LIMITED in codes:
        raise PlatformBusy(f"WeChat asked for a pause (-13, {errmsg or 'no errmsg'})", _RATE_LIMIT_PAUSE_SECONDS)
    raise SendRefused(codes[0], errmsg)
