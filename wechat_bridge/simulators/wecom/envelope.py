"""The HTTP request of one delivery: signed query and encrypted body, or what a knob makes of them."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wechat_bridge.simulators.wecom.app import App
from wechat_bridge.simulators.wecom.callback import Callback, Envelope, Knobs
from wechat_bridge.simulators.wecom.crypto import PAD_BYTES, CallbackCrypto, pad_length
from wechat_bridge.simulators.wecom.xml import to_xml

# Above the 1 MiB that Tencent's own receiver takes.
OVERSIZED_BYTES = 2 * 1024 * 1024
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE xml [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefg", "bcdefgh", strict=True))
    + "]>"
)


@dataclass(frozen=True)
class Freshness:
    """What is new in every attempt: 16 random bytes, the nonce, and the timestamp in Unix seconds as text."""

    random16: bytes
    nonce: str
    timestamp: str


@dataclass(frozen=True)
class Delivery:
    """Query and body of one POST."""

    query: dict[str, str]
    body: bytes


def new_freshness(age_seconds: float = 0.0) -> Freshness:
    """Fresh values; the timestamp is of the real clock, which is also the receiver's."""
    return Freshness(os.urandom(16), str(secrets.randbelow(10**10)), str(int(time.time() - age_seconds)))


def document(callback: Callback, receive_id: str) -> bytes:
    """The XML that gets encrypted."""
    knobs = callback.knobs
    text = to_xml(callback.fields)
    if knobs.inner_dtd:
        text = BOMB + text.replace("</xml>", "<Bomb>&h;</Bomb></xml>")
    plain = text.encode("utf-8", "surrogatepass")
    if knobs.pad is None:
        return plain
    return plain + b" " * ((pad_length(plain, receive_id) - knobs.pad) % PAD_BYTES)


def delivery(app: App, callback: Callback, fresh: Freshness) -> Delivery:
    """The POST of one attempt."""
    knobs = callback.knobs
    receive_id = app.corp_id if knobs.receive_id is None else knobs.receive_id
    encrypted = app.crypto.encrypt(document(callback, receive_id), fresh.random16, receive_id)
    return Delivery(signed_query(_signer(app, knobs), fresh, encrypted), _body(app, knobs, encrypted))


def signed_query(crypto: CallbackCrypto, fresh: Freshness, encrypted: str) -> dict[str, str]:
    """The three parameters of every request."""
    signature = crypto.signature(fresh.timestamp, fresh.nonce, encrypted)
    return {"msg_signature": signature, "timestamp": fresh.timestamp, "nonce": fresh.nonce}


def _signer(app: App, knobs: Knobs) -> CallbackCrypto:
    token = f"not-{app.token}" if knobs.wrong_signature else app.token
    return CallbackCrypto(token, app.encoding_aes_key, app.corp_id)


def _body(app: App, knobs: Knobs, encrypted: str) -> bytes:
    head = {"ToUserName": app.corp_id, "AgentID": str(app.agent_id)}
    return BODIES[knobs.envelope](head, encrypted).encode()


def _bomb(head: Mapping[str, str], encrypted: str) -> str:
    plain = to_xml({**head, "Encrypt": encrypted})
    return BOMB + plain.replace("<ToUserName>", "<ToUserName>&h;", 1)


# Each makes a body of the outer fields and the ciphertext, when it is wanted: one of them is large.
BODIES: dict[Envelope, Callable[[Mapping[str, str], str], str]] = {
    "plain": lambda head, encrypted: to_xml({**head, "Encrypt": encrypted}),
    "dtd": _bomb,
    "oversized": lambda head, encrypted: to_xml({**head, "Filler": "x" * OVERSIZED_BYTES, "Encrypt": encrypted}),
    "not_xml": lambda head, encrypted: '{"encrypt": "of another product"}',
    "no_encrypt": lambda head, encrypted: to_xml(head),
    "two_encrypts": lambda head, encrypted: to_xml({**head, "Encrypt": [encrypted, encrypted]}),
    "empty": lambda head, encrypted: "",
}
