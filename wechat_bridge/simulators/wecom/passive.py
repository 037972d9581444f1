"""Passive replies: what an app answers to a callback for the person to see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.app import App
from wechat_bridge.simulators.wecom.content import MOST_ARTICLES
from wechat_bridge.simulators.wecom.crypto import CallbackCryptoError
from wechat_bridge.simulators.wecom.xml import from_xml

# Reply type to the field that must not be empty.
TYPES = {
    "text": "Content",
    "image": "Image",
    "voice": "Voice",
    "video": "Video",
    "news": "Articles",
    "update_button": "Button",
    "update_template_card": "TemplateCard",
}
ARTICLE_COUNTS = {str(count) for count in range(1, MOST_ARTICLES + 1)}


class PassiveReplyError(Exception):
    """A body is no passive reply that anybody would see; the message says why."""


def read_passive(app: App, body: bytes, user_id: str) -> Json:
    """The fields of an encrypted passive reply to a person.

    Raises:
        PassiveReplyError: envelope, signature, receiver or content is wrong.
    """
    envelope = _fields(body, "the body is neither empty, nor success, nor a passive reply")
    encrypted = str(envelope.get("Encrypt", ""))
    parts = (str(envelope.get("TimeStamp", "")), str(envelope.get("Nonce", "")), encrypted)
    if app.crypto.signature(*parts) != envelope.get("MsgSignature"):
        raise PassiveReplyError("the MsgSignature of the passive reply is wrong")
    try:
        plain, _ = app.crypto.decrypt(encrypted)
    except CallbackCryptoError as error:
        raise PassiveReplyError(f"the passive reply cannot be decrypted: {error}") from error
    reply = _fields(plain, "the decrypted passive reply is not XML")
    _check(reply, user_id, app.corp_id)
    return reply


def _fields(data: bytes, complaint: str) -> dict[str, Any]:
    try:
        return from_xml(data.decode())
    except (ElementTree.ParseError, UnicodeDecodeError) as error:
        raise PassiveReplyError(f"{complaint} ({error})") from error


def _check(reply: Mapping[str, Any], user_id: str, corp_id: str) -> None:
    if (reply.get("ToUserName"), reply.get("FromUserName")) != (user_id, corp_id):
        raise PassiveReplyError(
            "ToUserName and FromUserName of the passive reply are not those of the callback swapped"
        )
    kind = str(reply.get("MsgType", ""))
    if kind not in TYPES:
        raise PassiveReplyError(f"there is no passive reply of type {kind!r}")
    if not reply.get(TYPES[kind]):
        raise PassiveReplyError(f"the passive reply has no {TYPES[kind]}")
    if kind == "news" and str(reply.get("ArticleCount")) not in ARTICLE_COUNTS:
        raise PassiveReplyError(f"the passive reply has not 1 to {MOST_ARTICLES} articles")
