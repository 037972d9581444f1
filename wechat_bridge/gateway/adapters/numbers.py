"""Numbers stay exact: integers of any size are integers, decimals are kept only where a double is the same number.

A decimal of up to 15 digits always is: ``12.50`` is 12.5, and as a decimal again 12.5 (``Decimal(repr(value))``), so
amounts are exact. What has more digits than a double carries is refused instead of being rounded, unless it is how a
double itself is printed (with 17 digits, as C does); NaN and Infinity are no numbers. Who needs more sends text.
"""

from __future__ import annotations

import re
from decimal import Decimal, DecimalException
from math import isfinite

MOST_INTEGER_DIGITS = 1_000
"""So that no text of digits costs more to convert than it is long (CPython's own limit is 4300)."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*+)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")


def exact_decimal(text: str) -> float:
    """Return the double that is the decimal number ``text``. Raises ValueError where none is."""
    value = float(text)
    if not isfinite(value):
        raise ValueError("a number is too large")
    if repr(value) != text and not _same(value, text):
        raise ValueError("a number has more digits than a double carries; send it as text")
    return value


def _same(value: float, text: str) -> bool:
    try:
        written = Decimal(text)
    except DecimalException:  # its exponent is beyond what even Decimal knows
        return False
    return written in (Decimal(repr(value)), Decimal(f"{value:.17g}"))


def exact_integer(text: str) -> int:
    """Return an integer of any usual size. Raises ValueError."""
    if len(text) > MOST_INTEGER_DIGITS:
        raise ValueError("a number has too many digits")
    return int(text)


def integer_of(text: str) -> int:
    """Return the integer that a text is, as JSON would write it. Raises ValueError."""
    if not _INTEGER.fullmatch(text):
        raise ValueError("what should be an integer is none")
    return exact_integer(text)


def number_of(text: str) -> int | float:
    """Return the number that a text is, as JSON would write it. Raises ValueError."""
    if _INTEGER.fullmatch(text):
        return exact_integer(text)
    if not _NUMBER.fullmatch(text):
        raise ValueError("what should be a number is none")
    return exact_decimal(text)
