"""The message crypto of WeCom's callbacks, both directions: AES-256-CBC, PKCS7 to 32 bytes, SHA-1 signature."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import struct
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

# Larger than AES needs; the pad byte is 1..32.
PAD_BYTES = 32
RANDOM_BYTES = 16


class CallbackCryptoError(Exception):
    """A ciphertext is not one of this key; the message says what is wrong with it."""


@dataclass(frozen=True)
class CallbackCrypto:
    """What one application's callback configuration can sign, encrypt and decrypt."""

    token: str = field(repr=False)
    encoding_aes_key: str = field(repr=False)
    receive_id: str

    def signature(self, timestamp: str, nonce: str, encrypted: str) -> str:
        """SHA-1 over the sorted parts, in lower-case hex."""
        parts = sorted([self.token, timestamp, nonce, encrypted])
        return hashlib.sha1("".join(parts).encode(), usedforsecurity=False).hexdigest()

    def encrypt(self, plain: bytes, random16: bytes | None = None, receive_id: str | None = None) -> str:
        """The base64 text of a message; another `receive_id` than one's own is a forgery."""
        trailer = self.receive_id if receive_id is None else receive_id
        head = (random16 or os.urandom(RANDOM_BYTES)) + struct.pack(">I", len(plain))
        whole = head + plain + trailer.encode()
        pad = PAD_BYTES - len(whole) % PAD_BYTES
        encryptor = self._cipher().encryptor()
        return base64.b64encode(encryptor.update(whole + bytes([pad]) * pad) + encryptor.finalize()).decode("ascii")

    def decrypt(self, encrypted: str) -> tuple[bytes, bytes]:
        """The message and the 16 random bytes before it.

        Raises:
            CallbackCryptoError: it is not base64, not whole blocks, wrongly padded, too short or for another receiver.
        """
        whole = self._unpadded(encrypted)
        end = RANDOM_BYTES + 4
        length = struct.unpack(">I", whole[RANDOM_BYTES:end])[0] if len(whole) >= end else len(whole)
        if end + length > len(whole):
            raise CallbackCryptoError("the length of the message is beyond its end")
        if whole[end + length :] != self.receive_id.encode():
            raise CallbackCryptoError("the receiveid behind the message is another one")
        return whole[end : end + length], whole[:RANDOM_BYTES]

    def _unpadded(self, encrypted: str) -> bytes:
        try:
            decryptor = self._cipher().decryptor()
            padded = decryptor.update(base64.b64decode(encrypted, validate=True)) + decryptor.finalize()
        except (binascii.Error, ValueError) as error:
            raise CallbackCryptoError(f"the ciphertext is damaged: {error}") from error
        pad = padded[-1] if padded else 0
        if not 1 <= pad <= PAD_BYTES or padded[-pad:] != bytes([pad]) * pad:
            raise CallbackCryptoError("the padding is wrong")
        return padded[:-pad]

    def _cipher(self) -> Cipher[modes.CBC]:
        key = base64.b64decode(self.encoding_aes_key + "=")
        return Cipher(algorithms.AES(key), modes.CBC(key[:16]))


def pad_length(plain: bytes, receive_id: str) -> int:
    """How many pad bytes the encrypted form of a message has."""
    return PAD_BYTES - (RANDOM_BYTES + 4 + len(plain) + len(receive_id.encode())) % PAD_BYTES
