"""The simulated CDN's memory: uploads that were announced, and the encrypted files it holds."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from wechat_bridge.simulators.ilink.identifiers import opaque

KEY_BYTES = 16
BLOCK_BYTES = 16
# Where each kind of message item keeps its media.
MEDIA_FIELDS = ("image_item", "voice_item", "file_item", "video_item")


@dataclass(slots=True, frozen=True)
class Announced:
    """An upload announced by getuploadurl: sizes in bytes, the MD5 of the plaintext, the key in hex."""

    filekey: str
    raw_size: int
    file_size: int
    raw_md5: str
    aes_key: str


@dataclass(slots=True, frozen=True)
class Stored:
    """One file on the CDN: what is served, and the key that opens it."""

    ciphertext: bytes
    aes_key: bytes


class MediaStore:
    """Announced uploads by upload parameter, and files by download parameter."""

    def __init__(self) -> None:
        self._announced: dict[str, Announced] = {}
        self._stored: dict[str, Stored] = {}

    def announce(self, upload: Announced) -> str:
        """Expect an upload; returns its upload parameter."""
        parameter = opaque()
        self._announced[parameter] = upload
        return parameter

    def announced(self, parameter: str) -> Announced | None:
        """The upload that this parameter was given for."""
        return self._announced.get(parameter)

    def keep(self, ciphertext: bytes, aes_key: bytes) -> str:
        """Keep an encrypted file; returns its download parameter."""
        parameter = opaque()
        self._stored[parameter] = Stored(ciphertext, aes_key)
        return parameter

    def stored(self, parameter: str) -> Stored | None:
        """The file behind a download parameter."""
        return self._stored.get(parameter)

    def readable(self, item: Any) -> bool | None:
        """Whether an item's media can be fetched and opened with the key it carries; None when it carries no media."""
        media = media_of(item)
        if media is None:
            return None
        file = self.stored(str(media.get("encrypt_query_param")))
        return file is not None and decode_key(str(media.get("aes_key") or "")) == file.aes_key


def media_of(item: Any) -> dict[str, Any] | None:
    """The CDN reference inside a message item."""
    for name in MEDIA_FIELDS:
        content = item.get(name) if isinstance(item, dict) else None
        if isinstance(content, dict) and isinstance(content.get("media"), dict):
            media: dict[str, Any] = content["media"]
            return media
    return None


def media_reference(base_url: str, parameter: str, aes_key: bytes, spelling: str) -> dict[str, Any]:
    """The CDN reference of an inbound message; the key is base64 of 16 bytes (`raw`) or of their hex text (`hex`)."""
    spelled = aes_key if spelling == "raw" else aes_key.hex().encode()
    return {
        "encrypt_query_param": parameter,
        "aes_key": base64.b64encode(spelled).decode("ascii"),
        "encrypt_type": 1,
        "full_url": f"{base_url}/c2c/download?encrypted_query_param={quote(parameter, safe='')}",
    }


def decode_key(aes_key: str) -> bytes | None:
    """The 16 bytes of a key that is spelled as base64 of bytes or as base64 of hex text."""
    try:
        decoded = base64.b64decode(aes_key, validate=True)
        key = bytes.fromhex(decoded.decode("ascii")) if len(decoded) == 2 * KEY_BYTES else decoded
    except (binascii.Error, ValueError):
        return None
    return key if len(key) == KEY_BYTES else None


def padded_size(raw_size: int) -> int:
    """Ciphertext bytes for so many plain bytes: PKCS7 always pads, a full block after a full block."""
    return (raw_size // BLOCK_BYTES + 1) * BLOCK_BYTES


def new_key() -> bytes:
    """A random AES-128 key."""
    return os.urandom(KEY_BYTES)


def encrypt(plain: bytes, key: bytes) -> bytes:
    """AES-128-ECB with PKCS7 padding, as the CDN has it."""
    padder = padding.PKCS7(BLOCK_BYTES * 8).padder()
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(padder.update(plain) + padder.finalize()) + encryptor.finalize()


def decrypt(ciphertext: bytes, key: bytes) -> bytes | None:
    """The plaintext, or None when length, key or padding is wrong."""
    decryptor = Cipher(algorithms.AES(key), modes.ECB()).decryptor()
    unpadder = padding.PKCS7(BLOCK_BYTES * 8).unpadder()
    try:
        padded = decryptor.update(ciphertext) + decryptor.finalize()
        return unpadder.update(padded) + unpadder.finalize()
    except ValueError:
        return None


def md5_hex(plain: bytes) -> str:
    """MD5 in lower-case hex, the checksum of the upload protocol."""
    return hashlib.md5(plain, usedforsecurity=False).hexdigest()
