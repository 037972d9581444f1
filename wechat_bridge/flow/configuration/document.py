"""Read a configuration that somebody wrote: whole, or not at all."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from wechat_bridge.errors import SettingsError
from wechat_bridge.model.configuration import Document

PARTS = ("settings", "events")
MOST_CHARACTERS = 4_000_000
"""A document of MongoDB takes 16 MB."""


def read_document(text: str, name: str) -> Document:
    """Return the document of a file. Raises SettingsError naming the file, line and reason; half a file is none."""
    if len(text) > MOST_CHARACTERS:
        raise SettingsError(f"{name} has {len(text)} characters, {MOST_CHARACTERS} are allowed; nothing is changed")
    try:
        document = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise SettingsError(
            f"{name} is not whole JSON: line {error.lineno}, column {error.colno}: {error.msg}; nothing is changed"
        ) from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise SettingsError(f"{name}: {reason}; nothing is changed") from None
    if not isinstance(document, dict):
        raise SettingsError(f"{name} should be an object with {' and '.join(PARTS)}; nothing is changed")
    return document


def read_value(text: str) -> Any:
    """Return a value as written in a command: JSON where it is that, else the text itself."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        return text


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)} stands twice in one object")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(f"{written} is no number")
    return number
