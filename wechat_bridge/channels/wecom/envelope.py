"""What callbacks are wrapped in, and what our answers within a callback are wrapped in."""

from __future__ import annotations

import secrets
from datetime import datetime

from wechat_bridge.channels.wecom.crypto import CallbackCrypto
from wechat_bridge.channels.wecom.xml import Fields, cdata, fields_of, text_in, without_illegal
from wechat_bridge.errors import CallbackMalformed

MOST_BODY_BYTES = 1024 * 1024
"""As in Tencent's own receiver; real callbacks are a few kilobytes."""


def encrypted_in(body: bytes) -> str:
    """Return the text of the one ``Encrypt`` in the body of a POST. Raises CallbackMalformed.

    Anybody can send a body, so it is measured before it is parsed; whoever reads it from the network measures too.
    """
    if len(body) > MOST_BODY_BYTES:
        raise CallbackMalformed(f"the body of a callback is larger than {MOST_BODY_BYTES} bytes")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CallbackMalformed("the body of a callback is not UTF-8") from None
    encrypted = text_in(fields_of(text), "Encrypt")
    if not encrypted:
        raise CallbackMalformed("the body of a callback has not exactly one Encrypt")
    return encrypted


def message_in(plain: bytes) -> Fields:
    """Return the fields of a decrypted message. Raises CallbackMalformed.

    What its author typed may contain characters that XML cannot carry; they are left out, the rest is read.
    """
    return fields_of(without_illegal(plain.decode("utf-8-sig", "replace")))


def text_reply(fields: Fields, text: str, now: datetime) -> bytes:
    """Return the XML by which a callback with these fields is answered with a text, still to be sealed."""
    written = [
        f"<ToUserName>{cdata(text_in(fields, 'FromUserName'))}</ToUserName>",
        f"<FromUserName>{cdata(text_in(fields, 'ToUserName'))}</FromUserName>",
        f"<CreateTime>{int(now.timestamp())}</CreateTime>",
        "<MsgType><![CDATA[text]]></MsgType>",
        f"<Content>{cdata(text)}</Content>",
    ]
    return f"<xml>{''.join(written)}</xml>".encode()


def sealed_reply(crypto: CallbackCrypto, reply: bytes, now: datetime, nonce: str = "") -> str:
    """Return the body that answers a callback with ``reply``; ``nonce`` is a fresh one if not given."""
    timestamp, nonce = str(int(now.timestamp())), nonce or secrets.token_hex(8)
    encrypted = crypto.seal(reply)
    signature = crypto.signature(timestamp, nonce, encrypted)
    return (
        f"<xml><Encrypt>{cdata(encrypted)}</Encrypt><MsgSignature>{cdata(signature)}</MsgSignature>"
        f"<TimeStamp>{timestamp}</TimeStamp><Nonce>{cdata(nonce)}</Nonce></xml>"
    )
