"""``sendmessage``: one item at a time, and what its answers mean."""

from __future__ import annotations

from typing import Any

from wechat_bridge.channels.http import HttpClient
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
from wechat_bridge.errors import PlatformBusy, SendRefused
from wechat_bridge.model.channel import Account

_CONNECT_SECONDS = 5.0
_SEND_SECONDS = 15.0
_RATE_LIMITED = -13
_RATE_LIMIT_PAUSE_SECONDS = 60.0


def send_item(
    http: HttpClient, account: Account, user_id: str, item: dict[str, Any], client_id: str, context_token: str
) -> str | None:
    """Send a message of one item (two in one request are refused, PR 282); return WeChat's id for it, or None.

    Every failure of the transport leaves the outcome unknown. Raises what ``PollingDoor.send_text`` raises.
    """
    message: dict[str, Any] = {
        "from_user_id": "",
        "to_user_id": user_id,
        "client_id": client_id,
        "message_type": 2,  # of a bot
        "message_state": 2,  # finished
        "item_list": [item],
    }
    if context_token:
        message["context_token"] = context_token
    answer = http.post_json(
        wire.url_of(account.base_url, wire.SEND_MESSAGE),
        {"msg": message, "base_info": wire.base_info()},
        wire.post_headers(account.token),
        connect_seconds=_CONNECT_SECONDS,
        read_seconds=_SEND_SECONDS,
        total_seconds=_SEND_SECONDS,
    )
    sent = object_of(body_of(answer, "sendmessage"), "sendmessage")
    check_accepted(sent, "sendmessage", (account.token, context_token))
    return as_id(sent.get("message_id"))


def check_accepted(answer: dict[str, Any], call: str, secrets: tuple[str, ...]) -> None:
    """Raise what a refusing answer means. No code at all is success: ``{}`` has been seen."""
    codes = codes_of(answer, call)
    if not codes:
        return
    if SESSION_TIMEOUT in codes:
        raise session_expired(call)
    errmsg = errmsg_of(answer, secrets)
    if _RATE_LIMITED in codes:
        raise PlatformBusy(f"WeChat asked for a pause (-13, {errmsg or 'no errmsg'})", _RATE_LIMIT_PAUSE_SECONDS)
    raise SendRefused(codes[0], errmsg)
