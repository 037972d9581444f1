"""Texts with fields of a payload in them, as in ``dedup:payment:{orderId}:{user.id}``; a doubled brace is a brace.

In a key, values are escaped so that two different events never give the same key: ``:``, ``%`` and whatever does not
print stand as ``%`` and their bytes, and between two fields there is a ``:``. A number and the text that spells it are
the same value. A key that is too long ends with its hash, after a mark that no value can write.
"""

from __future__ import annotations

import hashlib
import re
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from wechat_bridge.errors import SettingsError, ValidationError
from wechat_bridge.model.event import JsonObject

MOST_KEY_BYTES = 512
KEPT_CHARACTERS = 100
"""Of a key that is too long, before its hash."""
HASHED = "%#"
PLAIN_DIGITS = 40
"""Numbers of more digits are written with an exponent: one of seven characters could fill the memory."""
MOST_INT_BITS = 4_096
"""Longer ones are written in base 16: in base 10 that takes a time that grows with the square."""

Scalar = str | int | float | Decimal

_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<path>[^{}]*)\}|[{}]|[^{}]+")
_PATH = re.compile(r"[^\s.\[\]{}]+(\.[^\s.\[\]{}]+)*")


class KeyMissing(ValidationError):
    """An event lacks a field that a template or rule needs, or has something there that is no single value."""

    def __init__(self, path: str, reason: str = "is needed here, with a text, a number, true or false") -> None:
        super().__init__(f"field {path} {reason}", [(path, reason)])
        self.path = path


class Part(NamedTuple):
    """A piece of a template: a text, or the path of a field where ``is_field``."""

    text: str
    is_field: bool


def check_template(template: str) -> None:
    """Raise SettingsError, saying why, unless ``template`` can be a key."""
    _key_parts(template)


def check_text(template: str) -> None:
    """Raise SettingsError, saying why, unless ``template`` can be a text for people."""
    parts_of(template)


def render(template: str, payload: JsonObject) -> str:
    """Return the key of a payload, of at most MOST_KEY_BYTES in UTF-8. Raises KeyMissing, also for an empty text."""
    return shortened("".join(_key_piece(part, payload) for part in _key_parts(template)))


def render_text(template: str, payload: JsonObject) -> str:
    """Return a text with values as they came. Raises KeyMissing."""
    parts = parts_of(template)
    return "".join(_shown(scalar(payload, part.text)) if part.is_field else part.text for part in parts)


def find(payload: JsonObject, path: str) -> object:
    """Return what stands at a path, None where nothing does; lists are not walked into."""
    found: object = payload
    for name in path.split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found


def scalar(payload: JsonObject, path: str) -> Scalar:
    """Return the single value at a path. Raises KeyMissing."""
    found = find(payload, path)
    if isinstance(found, str | int) or (isinstance(found, float | Decimal) and Decimal(found).is_finite()):
        return found
    raise KeyMissing(path)


def key_value(value: Scalar) -> str:
    """Return a value as it stands in keys."""
    return escaped(value if isinstance(value, str) else exact(value))


def exact(value: float | Decimal) -> str:
    """Return a number so that equal ones, 1 and 1.0 say, have the same text and others never."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and value.bit_length() > MOST_INT_BITS:
        return f"{value:#x}"
    sign, digits, exponent = Decimal(repr(value) if isinstance(value, float) else value).as_tuple()
    if not isinstance(exponent, int):
        return str(value)
    written = "".join(map(str, digits)).lstrip("0")
    short = written.rstrip("0")
    exponent += len(written) - len(short)
    return ("-" if sign and short else "") + _placed(short, exponent)


def escaped(text: str) -> str:
    """Return a text without ``:`` and without characters that do not print; no two texts become the same."""
    return "".join(mark if mark.isprintable() and mark not in ":%" else _escape(mark) for mark in text)


def shortened(key: str) -> str:
    """Return a key as it is, or its beginning and its hash."""
    written = key.encode()
    if len(written) <= MOST_KEY_BYTES:
        return key
    return f"{key[:KEPT_CHARACTERS]}{HASHED}{hashlib.sha256(written).hexdigest()}"


@lru_cache(maxsize=1_024)
def parts_of(template: str) -> tuple[Part, ...]:
    """Take a template apart. Raises SettingsError."""
    return tuple(_part(template, token) for token in _TOKEN.finditer(template))


def _part(template: str, token: re.Match[str]) -> Part:
    text, path = token.group(), token.group("path")
    if text in {"{", "}"}:
        raise SettingsError(f"template {template!r} has a single {text}; double it where it is meant as a brace")
    if path is None:
        return Part(text[0] if text in {"{{", "}}"} else text, is_field=False)
    if not _PATH.fullmatch(path):
        raise SettingsError(f"template {template!r}: {{{path}}} names no field; it should be like {{user.id}}")
    return Part(path, is_field=True)


@lru_cache(maxsize=1_024)
def _key_parts(template: str) -> tuple[Part, ...]:
    between = ":"
    for part in parts_of(template):
        if part.is_field and ":" not in between:
            raise SettingsError(f"template {template!r} should have a : before {{{part.text}}}: keys could be mixed up")
        between = "" if part.is_field else between + part.text
    return parts_of(template)


def _key_piece(part: Part, payload: JsonObject) -> str:
    if not part.is_field:
        return ":".join(map(escaped, part.text.split(":")))
    value = key_value(scalar(payload, part.text))
    if not value:
        raise KeyMissing(part.text, "is empty")
    return value


def _escape(mark: str) -> str:
    return "".join(f"%{byte:02X}" for byte in mark.encode("utf-8", "surrogatepass"))


def _placed(digits: str, exponent: int) -> str:
    """Write digits times ten to the ``exponent``."""
    if not digits:
        return "0"
    point = len(digits) + exponent
    if len(digits) > PLAIN_DIGITS and exponent == 0:
        return digits
    if max(point, -exponent) > PLAIN_DIGITS:
        return f"{digits}E{exponent}"
    if exponent >= 0:
        return digits + "0" * exponent
    return f"{digits[:point]}.{digits[point:]}" if point > 0 else f"0.{'0' * -point}{digits}"


def _shown(value: Scalar) -> str:
    if isinstance(value, Decimal) and abs(value.adjusted()) <= PLAIN_DIGITS:
        return f"{value:f}"
    return str(value) if isinstance(value, str | Decimal) else exact(value)
