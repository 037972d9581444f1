"""One field of a binary body to a value.

- ``u8`` to ``i64``, ``f32`` and ``f64``: numbers; a ``f32`` is the shortest decimal that is the same ``f32``.
- ``bool``: one byte, 0 or 1.
- ``text``: UTF-8; ``bytes``: becomes Base64. ``length`` bytes, of a text without the NULs at its end; or, ``prefixed``,
  as many as the number of ``length`` bytes before it says (2 where it is not given); or all the rest.
- ``divide_by`` 100 makes 1250 the number 12.5, exactly or not at all; ``as_text`` makes a number a text, with all its
  digits (``12.50``).
"""

from __future__ import annotations

import struct
from base64 import b64encode
from decimal import Decimal
from math import isfinite
from typing import Any

from wechat_bridge.gateway.adapters.numbers import exact_decimal
from wechat_bridge.model.event_rules import BinaryField

FORMATS = {
    "u8": ">B", "u16": ">H", "u32": ">I", "u64": ">Q", "i8": ">b", "i16": ">h", "i32": ">i", "i64": ">q",
    "f32": ">f", "f64": ">d",
}  # fmt: skip
FLOATS = frozenset({"f32", "f64"})
TEXTS = frozenset({"text", "bytes"})
PREFIX_BYTES = 2


class Body:
    """The bytes of a body, read from the beginning."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def take(self, length: int) -> bytes:
        """Return the next bytes. Raises ValueError if there are not as many."""
        taken = self._content[self._at : self._at + length]
        if len(taken) < length:
            raise ValueError("it ends within a field")
        self._at += length
        return taken

    def rest(self) -> bytes:
        """Return all that is left."""
        return self.take(len(self._content) - self._at)


def read_field(field: BinaryField, body: Body) -> Any:
    """Return the value of the next field. Raises ValueError."""
    if field.type in TEXTS:
        return _text(field, _content(field, body))
    if field.type == "bool":
        return _flag(body.take(1))
    packed = body.take(struct.calcsize(FORMATS[field.type]))
    [value] = struct.unpack(FORMATS[field.type], packed)
    return _real(field, value, packed) if field.type in FLOATS else _whole(field, value)


def _content(field: BinaryField, body: Body) -> bytes:
    if field.prefixed:
        return body.take(int.from_bytes(body.take(field.length or PREFIX_BYTES)))
    return body.rest() if field.length is None else body.take(field.length)


def _text(field: BinaryField, content: bytes) -> str:
    if field.type == "bytes":
        return b64encode(content).decode()
    is_padded = field.length is not None and not field.prefixed
    return (content.rstrip(b"\0") if is_padded else content).decode()


def _flag(byte: bytes) -> bool:
    if byte not in {b"\0", b"\1"}:
        raise ValueError("a bool is neither 0 nor 1")
    return byte == b"\1"


def _real(field: BinaryField, value: float, packed: bytes) -> float | str:
    if not isfinite(value):
        raise ValueError("a number is not finite")
    if field.type == "f32":
        written = (float(f"{value:.{digits}g}") for digits in range(1, 10))
        value = next(short for short in written if _packed_f32(short) == packed)
    value /= field.divide_by
    return repr(value) if field.as_text else value


def _packed_f32(value: float) -> bytes | None:
    try:
        return struct.pack(">f", value)
    except OverflowError:  # the largest ones, rounded up
        return None


def _whole(field: BinaryField, value: int) -> int | float | str:
    if field.divide_by == 1:
        return str(value) if field.as_text else value
    digits = decimal_digits(field.divide_by)
    if digits is None:
        return value / field.divide_by
    text = f"{Decimal(value).scaleb(-digits):f}"
    return text if field.as_text else exact_decimal(text)


def decimal_digits(divisor: int) -> int | None:
    """Return the digits after the point that dividing by a power of ten makes; None for any other divisor."""
    digits = len(str(divisor)) - 1
    return digits if divisor == 10**digits else None
