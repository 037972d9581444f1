"""``message/send``: the body of one message, and what WeCom's answer says about its reader."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from wechat_bridge.channels.wecom.answers import Answer
from wechat_bridge.channels.wecom.api import WecomApi, good, json_bytes
from wechat_bridge.errors import ContentRefused, RecipientRefused
from wechat_bridge.model.platform import WECOM
from wechat_bridge.model.wecom import WecomAccount

CALL = "message/send"
MOST_TEXT_BYTES = WECOM.text_bytes
"""What is beyond is cut off without a word; bytes, not characters (field report 14)."""

SHORTEST_CHECK_SECONDS = 300
CHECK_SPREAD_SECONDS = 1_500
_ONE_PERSON = re.compile(r"[^\s|,]{1,128}")


def send(
    api: WecomApi, account: WecomAccount, user_id: str, msgtype: str, content: Mapping[str, Any], client_id: str
) -> str | None:
    """Send one message to one person; return WeCom's id for it, by which it could be recalled.

    Raises RecipientRefused, also where WeCom says success and names the person as one it could not reach.
    """
    if not _ONE_PERSON.fullmatch(user_id) or user_id.lower() in ("@all", "sys"):
        raise RecipientRefused(f"{user_id!r} is no single member of WeCom; nothing was sent")
    body = {
        "touser": user_id,
        "msgtype": msgtype,
        "agentid": account.agent_id,
        msgtype: dict(content),
        "enable_duplicate_check": 1,
        "duplicate_check_interval": check_seconds(client_id),
    }
    answer = good(api.ask(account, CALL, json_bytes(body)), CALL)
    _check_reached(answer)
    return answer.text("msgid") or None


def check_seconds(client_id: str) -> int:
    """Return for how long WeCom is to hold back a message that equals one it has: 5 to 30 minutes.

    WeCom compares whole requests, so a retry must be the same to the byte, and two honest replies that read the same
    must differ somewhere. WeCom takes no id of ours, so they differ here: the same ``client_id`` always gives the same
    number, another one another of 1,500. It is the one number of a request of which its reader sees nothing.
    """
    digest = hashlib.sha256(client_id.encode()).digest()
    return SHORTEST_CHECK_SECONDS + int.from_bytes(digest[:8]) % CHECK_SPREAD_SECONDS


def check_size(text: str) -> None:
    """Raise ContentRefused for a text of which WeCom would show a part only."""
    size = len(text.encode("utf-8", "replace"))
    if size > MOST_TEXT_BYTES:
        raise ContentRefused(f"a text has {size} bytes, WeCom shows {MOST_TEXT_BYTES}; cut it before it is sent")


def _check_reached(answer: Answer) -> None:
    """Raise RecipientRefused where the errcode is 0 and nobody got anything (trap 10)."""
    for name in ("invaliduser", "unlicenseduser"):
        if answer.fields.get(name):
            raise RecipientRefused(
                f"WeCom took {CALL} and names the person in {name}: gone, outside the app's 可见范围, or without a "
                "licence; nothing was shown"
            )
