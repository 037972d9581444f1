"""What callbacks are wrapped in."""

from __future__ import annotations

from wechat_bridge.channels.wecom.xml import Fields, fields_of, text_in, without_illegal
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
