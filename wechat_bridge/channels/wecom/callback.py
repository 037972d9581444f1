"""The whole way of a callback from its bytes to a message, in the order that keeps strangers out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from wechat_bridge.channels.wecom.crypto import CallbackCrypto
from wechat_bridge.channels.wecom.envelope import encrypted_in, message_in
from wechat_bridge.channels.wecom.xml import Fields, text_in
from wechat_bridge.errors import CallbackForged
from wechat_bridge.model.wecom import WecomAccount

_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Signed:
    """The query of a callback, URL-decoded once: ``msg_signature``, ``timestamp``, ``nonce``."""

    signature: str
    timestamp: str
    nonce: str


def crypto_of(account: WecomAccount) -> CallbackCrypto:
    """Return the crypto of an app's callbacks. Raises NotConfigured for a key that cannot be one."""
    return CallbackCrypto(account.callback_token, account.encoding_aes_key, account.corp_id)


def open_echo(account: WecomAccount, query: Signed, echostr: str) -> bytes:
    """Return what the URL check wants to read, and nothing around it. Raises CallbackForged and CallbackMalformed.

    Its age does not matter: it says nothing, and a clock that is wrong should not keep an app from being set up.
    """
    return crypto_of(account).open(query.signature, query.timestamp, query.nonce, echostr)


def open_callback(account: WecomAccount, query: Signed, body: bytes, now: datetime, freshness_seconds: float) -> Fields:
    """Return the fields of a callback. Raises CallbackForged and CallbackMalformed; see WecomSettings for the age."""
    _check_fresh(query.timestamp, now, freshness_seconds)
    encrypted = encrypted_in(body)
    fields = message_in(crypto_of(account).open(query.signature, query.timestamp, query.nonce, encrypted))
    _check_receiver(fields, account)
    return fields


def _check_fresh(timestamp: str, now: datetime, freshness_seconds: float) -> None:
    """Refuse what is old: the second line of defence, the key of the row being the first. Retries are seconds old."""
    if not freshness_seconds:
        return
    written = int(timestamp) if _SECONDS.fullmatch(timestamp) else 0
    if abs(now.timestamp() - written) > freshness_seconds:
        raise CallbackForged(
            f"a callback is more than {freshness_seconds:g} s old, or ahead; if many are, check this machine's clock"
        )


def _check_receiver(fields: Fields, account: WecomAccount) -> None:
    """Refuse what is for another corp or app. Events that are about the corp, not an app, name no AgentID."""
    agent_id = text_in(fields, "AgentID")
    if text_in(fields, "ToUserName") != account.corp_id:
        raise CallbackForged("a callback is for another corp id than this channel's")
    if agent_id not in ("", str(account.agent_id)):
        raise CallbackForged("a callback is for another AgentID than this channel's; check the callback URL at WeCom")
