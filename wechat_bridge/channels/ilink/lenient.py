"""JSON as iLink sends it: numbers beyond 2^53, ids as numbers or strings, broken characters. Nothing is rounded.

A batch that was handed out is not handed out again (issue 164 of Tencent's client), so what can be read of an answer is
read, and one odd character does not cost the messages around it.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_WHOLE = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_INT64_DIGITS = 20


@dataclass(frozen=True, slots=True)
class JsonText:
    """A piece of JSON that stays as written: a number that Python would change (``1.50``, ``1E400``, forty digits)."""

    text: str


def loads(body: bytes) -> Any:
    """Read JSON from ``body``; numbers that are no whole numbers of at most 20 digits come as JsonText.

    Bytes that are no UTF-8 become U+FFFD, control characters may stand unescaped in strings, NaN and Infinity are null.
    Raises ValueError when it is no JSON, RecursionError when it is nested too deeply to be read.
    """
    return json.loads(
        body.decode("utf-8-sig", "replace"),
        strict=False,
        parse_int=lambda digits: int(digits) if len(digits) <= _INT64_DIGITS else JsonText(digits),
        parse_float=JsonText,
        parse_constant=lambda _: None,
    )


def compact(value: object) -> str:
    """Write ``value`` (as :func:`loads` gives it) as JSON without spaces, in characters that UTF-8 can carry.

    Without recursion, so that what could be read can be written, however deeply it is nested.
    """
    written: list[str] = []
    waiting: list[object] = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, JsonText):
            written.append(part.text)
        elif isinstance(part, dict | list):
            waiting.extend(reversed(_spread(part)))
        else:
            written.append(_scalar(part))
    return "".join(written)


def _spread(value: dict[Any, object] | list[object]) -> list[object]:
    """Return the brackets, separators and parts of an object or array, in order."""
    parts: list[object] = []
    if isinstance(value, list):
        for part in value:
            parts += [JsonText(","), part]
        return [JsonText("["), *parts[1:], JsonText("]")]
    for key, part in value.items():
        parts += [JsonText(","), JsonText(_scalar(str(key)) + ":"), part]
    return [JsonText("{"), *parts[1:], JsonText("}")]


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return encode_basestring_ascii(value) if _SURROGATE.search(value) else encode_basestring(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "null"
    return json.dumps(value)


def storable(text: str) -> str:
    """Return ``text`` with lone surrogates, which neither UTF-8 nor BSON can carry, as U+FFFD."""
    return _SURROGATE.sub("�", text)


def clean(value: object) -> str:
    """Return words for people: storable, without control characters other than tab and line ends; "" for no text."""
    return _CONTROL.sub("", storable(value)) if isinstance(value, str) else ""


def as_object(value: object) -> dict[str, Any]:
    """Return ``value`` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_int(value: object) -> int | None:
    """Return a whole number written as a number or as digits in a string; None for anything else."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_number(value: object) -> float | None:
    """Return a finite number, however it is written; None for anything else. Too coarse for ids."""
    text = value.text if isinstance(value, JsonText) else value
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        return None
    try:
        number = float(text)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
