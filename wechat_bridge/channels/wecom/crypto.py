"""The message crypto of callbacks (facts, section 1): signed with SHA-1, sealed with AES-256-CBC, padded to 32."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from wechat_bridge.errors import CallbackForged, CallbackMalformed, NotConfigured
from wechat_bridge.model.wecom import AES_KEY, AES_KEY_CHARACTERS

RANDOM_BYTES = 16
_LENGTH_BYTES = 4
_HEAD_BYTES = RANDOM_BYTES + _LENGTH_BYTES
_AES_BLOCK_BYTES = 16
_PAD_TO_BYTES = 32


class CallbackCrypto:
    """Opens and seals the callbacks of one app.

    ``receive_id`` stands at the end of every text: the corp id for an app of one's own, "" for an AI bot. Raises
    NotConfigured for a key that cannot be one.
    """

    def __init__(self, token: str, encoding_aes_key: str, receive_id: str) -> None:
        self._token = token
        self._key = key_of(encoding_aes_key)
        self._receive_id = receive_id.encode()

    def signature(self, timestamp: str, nonce: str, encrypted: str) -> str:
        """Return the signature of an encrypted text: 40 hex digits."""
        parts = sorted(part.encode("utf-8", "replace") for part in (self._token, timestamp, nonce, encrypted))
        return hashlib.sha1(b"".join(parts), usedforsecurity=False).hexdigest()

    def open(self, signature: str, timestamp: str, nonce: str, encrypted: str) -> bytes:
        """Return the text of a signed message.

        Raises CallbackForged for a wrong signature, before anything is decrypted, and CallbackMalformed, in the same
        words whatever is wrong, for everything after: a sender must not learn how far we came.
        """
        expected = self.signature(timestamp, nonce, encrypted)
        if not hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace")):
            raise CallbackForged("the signature of a callback is wrong; check that Token is the same here and at WeCom")
        text = self._text(encrypted)
        if text is None:
            raise CallbackMalformed(
                "a callback with a right signature cannot be opened; check EncodingAESKey and corp id"
            )
        return text

    def seal(self, text: bytes, random: bytes | None = None) -> str:
        """Return ``text`` encrypted, in base64; ``random`` are 16 bytes, fresh ones if not given."""
        head = (random or secrets.token_bytes(RANDOM_BYTES)) + len(text).to_bytes(_LENGTH_BYTES)
        plain = head + text + self._receive_id
        pad = _PAD_TO_BYTES - len(plain) % _PAD_TO_BYTES
        encryptor = self._cipher().encryptor()
        return base64.b64encode(encryptor.update(plain + bytes([pad]) * pad) + encryptor.finalize()).decode()

    def _text(self, encrypted: str) -> bytes | None:
        """Return what is inside, or None where anything is not as it should be."""
        try:
            sealed = base64.b64decode(encrypted.encode("utf-8", "replace"), validate=True)
        except binascii.Error:
            return None
        if not sealed or len(sealed) % _AES_BLOCK_BYTES:
            return None
        decryptor = self._cipher().decryptor()
        return self._inside(decryptor.update(sealed) + decryptor.finalize())

    def _inside(self, padded: bytes) -> bytes | None:
        pad = padded[-1]
        if not 1 <= pad <= _PAD_TO_BYTES or padded[-pad:] != bytes([pad]) * pad:
            return None
        plain = padded[:-pad]
        end = _HEAD_BYTES + int.from_bytes(plain[RANDOM_BYTES:_HEAD_BYTES])
        if len(plain) < _HEAD_BYTES or end > len(plain) or not hmac.compare_digest(plain[end:], self._receive_id):
            return None
        return plain[_HEAD_BYTES:end]

    def _cipher(self) -> Cipher[modes.CBC]:
        return Cipher(algorithms.AES(self._key), modes.CBC(self._key[:_AES_BLOCK_BYTES]))


def key_of(encoding_aes_key: str) -> bytes:
    """Return the 32 bytes of an EncodingAESKey. Raises NotConfigured.

    It is base64 without its last ``=``, made of random letters, so the two bits left over at its end may be anything:
    decoders that refuse that refuse right keys (trap 5).
    """
    written = encoding_aes_key.strip()
    if not AES_KEY.fullmatch(written):
        raise NotConfigured(
            f"EncodingAESKey should be {AES_KEY_CHARACTERS} letters and digits and has {len(written)} characters; "
            "copy it again from the app's page 接收消息 at WeCom"
        )
    return base64.b64decode(written[:AES_KEY_CHARACTERS] + "=")
