"""What a payload may hold: values that JSON knows, and not too many of them, nor too deep."""

from __future__ import annotations

from math import isfinite
from typing import Any

from wechat_bridge.errors import MessageParseError, PayloadTooLarge
from wechat_bridge.model.event import JsonObject
from wechat_bridge.model.event_rules import Limits

MOST_INTEGER_BITS = 3_322
"""A thousand digits, which anything can still print."""


def too_deep(limits: Limits) -> PayloadTooLarge:
    """Return the error for one nested deeper than allowed."""
    return PayloadTooLarge(
        f"the event is nested deeper than {limits.most_depth} levels, which limits.most_depth allows"
    )


def too_many(limits: Limits) -> PayloadTooLarge:
    """Return the error for one with more values than allowed."""
    return PayloadTooLarge(f"the event has more than {limits.most_nodes} values, which limits.most_nodes allows")


def measured(payload: object, limits: Limits) -> JsonObject:
    """Return the payload, which any other format may hold as well. Raises PayloadTooLarge, MessageParseError.

    The outermost object is level 1; a value is whatever is no name, objects and arrays included.
    """
    if not isinstance(payload, dict):
        raise MessageParseError("the event should be an object with fields")
    level: list[Any] = [payload]
    depth = nodes = 0
    while level:
        nodes += len(level)
        if nodes > limits.most_nodes:
            raise too_many(limits)
        inside = [value for value in level if _checked(value)]
        depth += bool(inside)
        if depth > limits.most_depth:
            raise too_deep(limits)
        level = [each for value in inside for each in (value.values() if isinstance(value, dict) else value)]
    return payload


def _checked(value: object) -> bool:
    """Return whether there are values inside. Raises MessageParseError for what JSON does not know."""
    if isinstance(value, dict):
        for name in value:
            if not isinstance(name, str):
                raise MessageParseError("a name of a field is no text")
            _check_text(name)
        return True
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, float):
        if not isfinite(value):
            raise MessageParseError("a number is not finite")
    elif isinstance(value, int):
        if value.bit_length() > MOST_INTEGER_BITS:
            raise MessageParseError("a number has too many digits")
    elif value is not None and not isinstance(value, list):
        raise MessageParseError(f"a value is of a kind that JSON does not know ({type(value).__name__})")
    return isinstance(value, list)


def _check_text(text: str) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise MessageParseError("a text has half a character (a lone surrogate)") from error
