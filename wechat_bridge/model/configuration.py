"""The configuration that may change while processes run: one document, its versions, and the places within it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

FORMAT = 1
"""Of stored versions; what has a higher one was written by a newer version of the bridge."""

Document = dict[str, Any]
Path = tuple[str | int, ...]
"""A place in a document: names of fields, and numbers of items of a list."""


WRITTEN_NAME = re.compile(r'"[^"]+"|[^."]+')
WRITTEN_PATH = re.compile(rf"({WRITTEN_NAME.pattern})(\.({WRITTEN_NAME.pattern}))*")


class StoredConfiguration(BaseModel):
    """One version as it is stored; it never changes. ``text`` is the document as JSON, sealed at the places ``sealed``.

    A text, because names of fields may have dots and dollars in them, and numbers may be large.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    number: int = Field(ge=1)
    format: int = FORMAT
    text: str = Field(repr=False)
    sealed: tuple[Path, ...] = ()
    by: str
    at: datetime
    note: str = ""


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every place that has no places below it, an empty object or list too."""
    parts = list(_parts(value))
    if not parts:
        yield path, value
    for name, part in parts:
        yield from leaves(part, (*path, name))


def find(value: Any, path: Path) -> Any:
    """Return what stands at a place. Raises LookupError when there is no such place."""
    for name in path:
        value = dict(_parts(value))[name]
    return value


def changed(old: Any, new: Any) -> list[Path]:
    """Return the places at which two documents differ, the smallest ones, in order."""
    before, after = dict(leaves(old)), dict(leaves(new))
    places = [path for path in before if path not in after or not _same(before[path], after[path])]
    places += [path for path in after if path not in before]
    # An empty object that gets its first value is told by that value.
    return [path for path in places if not any(each != path and each[: len(path)] == path for each in places)]


def with_value(value: Any, path: Path, new: Any) -> Any:
    """Return a copy with ``new`` at a place; objects on the way are made where they are missing.

    Raises LookupError where the way leads through something that is no object, or beyond a list.
    """
    if not path:
        return new
    name, rest = path[0], path[1:]
    if isinstance(value, list):
        if not (isinstance(name, int) and 0 <= name < len(value)):
            raise LookupError(name)
        return [with_value(part, rest, new) if place == name else part for place, part in enumerate(value)]
    if isinstance(value, Mapping) and isinstance(name, str):
        return {**value, name: with_value(value.get(name, {}), rest, new)}
    raise LookupError(name)


def without(value: Any, path: Path) -> Any:
    """Return a copy without a place, and without the objects that are empty then. Raises LookupError."""
    find(value, path)
    name, rest = path[0], path[1:]
    if isinstance(value, list):
        kept = [part for place, part in enumerate(value) if place != name]
        return [without(part, rest) if place == name else part for place, part in enumerate(value)] if rest else kept
    below = without(value[name], rest) if rest else None
    return {key: below if key == name else part for key, part in value.items() if key != name or below}


def path_of(written: str, *documents: Any) -> Path:
    """Return the place that a person means by ``settings.debounce.idle_seconds`` or ``events.routes.0.target``.

    Names may have dots in them: they stand in quotes (``events.types."user.login".dedupe``), or without, where one of
    the documents has a name like that there; the longest one is meant. Raises ValueError for what names no place.
    """
    if not WRITTEN_PATH.fullmatch(written):
        raise ValueError(f"{written!r} should be names with dots between them")
    words, known, path = WRITTEN_NAME.findall(written), list(documents), []
    while words:
        name, words = _first_name(words, known)
        path.append(name)
        known = [dict(_parts(each))[name] for each in known if name in dict(_parts(each))]
    return tuple(path)


def written(path: Path) -> str:
    """Return a place as people write it."""
    return ".".join(f'"{name}"' if "." in str(name) else str(name) for name in path)


def _first_name(words: list[str], documents: list[Any]) -> tuple[str | int, list[str]]:
    if words[0].startswith('"'):
        return words[0].strip('"'), words[1:]
    if words[0].isdecimal() and any(isinstance(each, list) for each in documents):
        return int(words[0]), words[1:]
    names = {name for each in documents for name, _ in _parts(each)}
    for count in range(len(words), 0, -1):
        name = ".".join(words[:count])
        if name in names:
            return name, words[count:]
    return words[0], words[1:]


def _parts(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
