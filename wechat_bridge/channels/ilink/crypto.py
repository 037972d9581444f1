"""Media as iLink's CDN holds them: AES-128-ECB with PKCS7 padding, keys in several spellings (facts, 6).

The mode is the protocol's, not a choice: equal blocks encrypt to equal blocks, and nothing tells a wrong key except a
padding that does not fit.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from wechat_bridge.errors import MediaUnreadable
from wechat_bridge.model.media import HEAD_BYTES, Problem, is_image

KEY_BYTES = BLOCK_BYTES = 16
_HEX_KEY = re.compile(r"[0-9A-Fa-f]{32}", re.ASCII)
_LONGEST_SPELLING = 64


def key_from(spelled: object) -> bytes | None:
    """Return the 16 bytes of a key in any of its spellings, or None.

    Hex; base64 of the 16 bytes; base64 of their hex text. Base64 with or without its padding, in either alphabet.
    """
    if not isinstance(spelled, str) or len(spelled) > _LONGEST_SPELLING:
        return None
    text = spelled.strip()
    if _HEX_KEY.fullmatch(text):
        return bytes.fromhex(text)
    decoded = _from_base64(text)
    if len(decoded) == KEY_BYTES:
        return decoded
    inner = decoded.decode("latin-1")
    return bytes.fromhex(inner) if _HEX_KEY.fullmatch(inner) else None


def _from_base64(text: str) -> bytes:
    bare = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def padded_size(size: int) -> int:
    """Return the encrypted size of ``size`` bytes: padding is always added, to a multiple of 16 a whole block."""
    return (size // BLOCK_BYTES + 1) * BLOCK_BYTES


def encrypt(plain: bytes, key: bytes) -> bytes:
    """Return the ciphertext of a file."""
    padder = padding.PKCS7(BLOCK_BYTES * 8).padder()
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(padder.update(plain)) + encryptor.update(padder.finalize()) + encryptor.finalize()


def _first_block(ciphertext: bytes, key: bytes) -> bytes:
    return Cipher(algorithms.AES(key), modes.ECB()).decryptor().update(ciphertext[:BLOCK_BYTES])


@dataclass(frozen=True)
class Claims:
    """What a message says about a file: ``length`` in plain bytes and MD5 in hex, None and "" where it says nothing."""

    length: int | None = None
    md5: str = ""


@dataclass
class Opener:
    """Turns the bytes of the CDN into those of the file, piece by piece, and hands them to ``sink``.

    ``keys`` are tried on the first block: for a picture, the one that gives a picture is taken, and without such a key
    a picture that is not encrypted at all is passed on as it is. Ciphertext is never passed on. Raises MediaUnreadable
    (NO_KEY, WRONG_KEY), at the end at the latest; what the sink has got by then is worth nothing.
    """

    keys: Sequence[bytes] = field(repr=False)
    may_be_plain_image: bool
    claims: Claims
    sink: Callable[[bytes], object] = field(repr=False)

    def __post_init__(self) -> None:
        self._head = b""
        self._step: Callable[[bytes], bytes] | None = None
        self._end: Callable[[], bytes] = bytes
        self._size = 0
        self._md5 = hashlib.md5(usedforsecurity=False)

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the CDN."""
        if self._step is None:
            self._head += piece
            if len(self._head) < HEAD_BYTES:
                return
            piece = self._begin()
        if self._step is not None:
            self._pass_on(self._step(piece))

    def finish(self) -> None:
        """Say that there are no more bytes."""
        try:
            if self._step is None:
                head = self._begin()
                self._pass_on(self._step(head) if self._step else b"")
            self._pass_on(self._end())
        except ValueError:
            raise MediaUnreadable(Problem.WRONG_KEY) from None
        if not self._is_as_claimed():
            raise MediaUnreadable(Problem.WRONG_KEY)

    def _begin(self) -> bytes:
        """Decide by the first bytes how the rest is read; return them."""
        head, self._head = self._head, b""
        key = self._key(head)
        if key is None:
            if not (self.may_be_plain_image and is_image(head)):
                raise MediaUnreadable(Problem.WRONG_KEY if self.keys else Problem.NO_KEY)
            self._step = bytes
            return head
        decryptor = Cipher(algorithms.AES(key), modes.ECB()).decryptor()
        unpadder = padding.PKCS7(BLOCK_BYTES * 8).unpadder()
        self._step = lambda piece: unpadder.update(decryptor.update(piece))
        self._end = lambda: unpadder.update(decryptor.finalize()) + unpadder.finalize()
        return head

    def _key(self, head: bytes) -> bytes | None:
        if not self.may_be_plain_image:
            return self.keys[0] if self.keys else None
        if len(head) < BLOCK_BYTES:
            return None
        return next((key for key in self.keys if is_image(_first_block(head, key))), None)

    def _pass_on(self, plain: bytes) -> None:
        if plain:
            self._size += len(plain)
            self._md5.update(plain)
            self.sink(plain)

    def _is_as_claimed(self) -> bool:
        """One wrong key in 256 ends in a padding that looks right. Length and MD5 both wrong give it away; one of them
        may be a lie of the sender, or from before the server recompressed a film."""
        if self.claims.length is None or not self.claims.md5:
            return True
        return self._size == self.claims.length or self._md5.hexdigest() == self.claims.md5
