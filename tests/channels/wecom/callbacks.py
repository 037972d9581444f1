"""Callbacks as WeCom sends them, made with the crypto that the published vectors hold to account."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from wechat_bridge.channels.wecom.callback import Signed, crypto_of
from wechat_bridge.channels.wecom.xml import without_illegal
from wechat_bridge.model.wecom import WecomAccount


def xml(fields: dict[str, Any]) -> str:
    """The fields in the manner of WeCom: numbers bare, texts in CDATA."""
    return f"<xml>{_inside(fields)}</xml>"


def _inside(fields: dict[str, Any]) -> str:
    return "".join(_element(name, value) for name, value in fields.items())


def _element(name: str, value: Any) -> str:
    if isinstance(value, list):
        return "".join(_element(name, one) for one in value)
    inside = _inside(value) if isinstance(value, dict) else str(value) if isinstance(value, int) else cdata(value)
    return f"<{name}>{inside}</{name}>"


def cdata(text: str) -> str:
    """A text as CDATA, which ends where it should even if the text contains its end mark."""
    return f"<![CDATA[{without_illegal(text).replace(']]>', ']]]]><![CDATA[>')}]]>"


def sealed(account: WecomAccount, plain: str | bytes, now: datetime, nonce: str = "n1") -> tuple[Signed, bytes]:
    """The query and the body of a callback with this inside."""
    crypto = crypto_of(account)
    encrypted = crypto.seal(plain.encode() if isinstance(plain, str) else plain)
    timestamp = str(int(now.timestamp()))
    body = xml({"ToUserName": account.corp_id, "AgentID": account.agent_id, "Encrypt": encrypted})
    return Signed(crypto.signature(timestamp, nonce, encrypted), timestamp, nonce), body.encode()


def text_message(account: WecomAccount, now: datetime, **changes: Any) -> dict[str, Any]:
    """The fields of a text, some of them changed."""
    return {
        "ToUserName": account.corp_id,
        "FromUserName": "ann",
        "CreateTime": int(now.timestamp()),
        "MsgType": "text",
        "Content": "hello",
        "MsgId": 7459035031717794886,
        "AgentID": account.agent_id,
    } | changes
