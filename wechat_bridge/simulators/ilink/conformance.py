"""Where a request departs from what the official client sends.

Departures are counted, not refused: third-party clients leave things out and are in use.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from wechat_bridge.simulators.json_types import Json

APP_HEADERS = ("iLink-App-Id", "iLink-App-ClientVersion")
BOT_AGENT_LIMIT_BYTES = 256
BOT_SENT, FINISHED = 2, 2


def api_departures(method: str, headers: Mapping[str, str], body: Json, has_token: bool) -> Iterator[str]:
    """Departures of an API request, as short fixed phrases."""
    yield from (f"no {name} header" for name in APP_HEADERS if not headers.get(name))
    if method == "POST":
        yield from post_departures(headers)
    if has_token:
        yield from base_info_departures(body.get("base_info"))


def post_departures(headers: Mapping[str, str]) -> Iterator[str]:
    """Departures in the headers that every POST carries."""
    if not headers.get("Content-Type", "").startswith("application/json"):
        yield "Content-Type is not application/json"
    if headers.get("AuthorizationType") != "ilink_bot_token":
        yield "AuthorizationType is not ilink_bot_token"
    if not is_wechat_uin(headers.get("X-WECHAT-UIN", "")):
        yield "X-WECHAT-UIN is not base64 of a decimal uint32"


def is_wechat_uin(value: str) -> bool:
    """Whether this is base64 of the decimal text of a uint32."""
    try:
        text = base64.b64decode(value, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return False
    return text.isdigit() and int(text) < 2**32


def base_info_departures(base_info: Any) -> Iterator[str]:
    """Departures in the `base_info` that every request with a bot token carries."""
    info = base_info if isinstance(base_info, dict) else {}
    if not isinstance(info.get("channel_version"), str):
        yield "no base_info.channel_version"
    agent = info.get("bot_agent", "")
    if not (isinstance(agent, str) and agent.isascii() and len(agent) <= BOT_AGENT_LIMIT_BYTES):
        yield "base_info.bot_agent is not ASCII of at most 256 bytes"


def send_departures(msg: Any) -> Iterator[str]:
    """Departures in the message of a sendmessage."""
    fields = msg if isinstance(msg, dict) else {}
    if not fields.get("client_id"):
        yield "sendmessage without client_id"
    if not fields.get("context_token"):
        yield "sendmessage without context_token"
    if fields.get("from_user_id", "") != "":
        yield "sendmessage with a from_user_id"
    if (fields.get("message_type"), fields.get("message_state")) != (BOT_SENT, FINISHED):
        yield "sendmessage whose message_type and message_state are not 2"
