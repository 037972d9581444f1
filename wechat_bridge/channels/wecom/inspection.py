"""What ``doctor`` asks WeCom: each question once and by itself, so that the answer is what stands there now.

No token that is shared with the processes is used or kept: a repeated gettoken answers the same token (facts, 3), and
what the bridge knows of an app stays as it is.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from wechat_bridge.channels.http import HttpAnswer, HttpClient
from wechat_bridge.channels.wecom.answers import Answer, answer_of
from wechat_bridge.channels.wecom.api import JSON, json_bytes
from wechat_bridge.channels.wecom.tokens import CONNECT_SECONDS, url_of
from wechat_bridge.errors import PlatformUnavailable
from wechat_bridge.model.wecom import WecomAccount
from wechat_bridge.model.wecom_kf import KfAccount

_TOTAL_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Said:
    """An answer of WeCom, and the time of its server if it told it (to the second)."""

    answer: Answer
    server_time: datetime | None


def ask_token(http: HttpClient, account: WecomAccount) -> Said:
    """Ask for an access token. Raises PlatformUnavailable; a refusal is an answer."""
    return ask(http, account, "gettoken", {"corpid": account.corp_id, "corpsecret": account.token})


def ask_agent(http: HttpClient, account: WecomAccount, token: str) -> Said:
    """Ask what WeCom knows of the app: whether it is enabled, and who may see it. Raises PlatformUnavailable."""
    return ask(http, account, "agent/get", {"access_token": token, "agentid": str(account.agent_id)})


def ask_services(http: HttpClient, account: WecomAccount, token: str) -> Said:
    """Ask which accounts of customer service the app serves (the first hundred). Raises PlatformUnavailable."""
    return ask(http, account, "kf/account/list", {"access_token": token}, {"offset": 0, "limit": 100})


def ask_link(http: HttpClient, account: KfAccount, token: str) -> Said:
    """Ask for the address at which customers open the conversation (field ``url``). Raises PlatformUnavailable."""
    return ask(http, account, "kf/add_contact_way", {"access_token": token}, {"open_kfid": account.open_kfid})


def send_test(http: HttpClient, account: WecomAccount, token: str, user_id: str, text: str) -> Said:
    """Send a text to one member. Raises PlatformUnavailable: it may have been sent then."""
    body = {"touser": user_id, "msgtype": "text", "agentid": account.agent_id, "text": {"content": text}}
    return ask(http, account, "message/send", {"access_token": token}, body)


def ask(
    http: HttpClient,
    account: WecomAccount,
    call: str,
    query: Mapping[str, str],
    body: Mapping[str, Any] | None = None,
) -> Said:
    """Make one call, a GET without ``body``. Raises PlatformUnavailable."""
    url = url_of(account, call, query)
    client = http.through(account.proxy)
    seconds = {"connect_seconds": CONNECT_SECONDS, "read_seconds": _TOTAL_SECONDS, "total_seconds": _TOTAL_SECONDS}
    found: HttpAnswer = (
        client.get(url, {}, **seconds)
        if body is None
        else client.post_bytes(url, json_bytes(body), {"Content-Type": JSON}, **seconds)
    )
    secrets = (*account.secrets, query.get("access_token", ""))
    return Said(answer_of(found, call, secrets), _date(found.headers.get("date", "")))


def check_connects(proxy: str) -> None:
    """Open a connection to a proxy and close it again. Raises PlatformUnavailable, naming it without its login."""
    parts = urlsplit(proxy)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((host, port), CONNECT_SECONDS).close()
    except OSError as error:
        raise PlatformUnavailable(f"{host}:{port} cannot be reached ({error.strerror or error})") from None


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
