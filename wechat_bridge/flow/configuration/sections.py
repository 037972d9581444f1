"""The environment's settings with the changes of a document: which may change while processes run, and to what."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import AliasChoices, BaseModel, TypeAdapter, ValidationError

from wechat_bridge.model.configuration import Path, leaves
from wechat_bridge.model.engine import EngineName, EngineSettings
from wechat_bridge.settings import PREFIX, DebounceSettings, Settings

ALL: frozenset[str] = frozenset()

AT_START: Mapping[str, frozenset[str]] = {
    "debounce": ALL,
    "reply": ALL,
    "breaker": ALL,
    "access": ALL,
    "dead_letters": ALL,
    "sweep": ALL,
    "inbox": ALL,
    "poll": frozenset({"default_hold_seconds", "total_deadline_seconds"}),
    "media": frozenset({"most_bytes", "origins", "cdn_base_url", "folder", "link_seconds"}),
}
"""The sections that may change while processes run, each with the fields that do not: processes keep what they took of
them when they started (a poll lock's lifetime, say). ``engines`` may change, too."""

YEAR_SECONDS = 366 * 86_400
MOST = {"_seconds": YEAR_SECONDS, "_hours": 366 * 24, "_days": 36_500, "_bytes": 2**31, "_characters": 2**31}
MOST_OF_OTHERS = 1_000_000
"""Times far beyond any calendar would stop every process at its next message; a slip of the finger must not."""

Faults = list[tuple[Path, str]]
"""What is wrong, by place."""

_engines: TypeAdapter[dict[str, EngineSettings]] = TypeAdapter(dict[EngineName, EngineSettings])


def merged(base: Settings, changes: Mapping[str, Any], faults: Faults) -> Settings:
    """Return the settings with the changes of a document; what is wrong with them is added to ``faults``.

    Of a section the fields that are named change; so they do of an engine, unless its kind is another one. ``null``
    takes an engine of the environment away.
    """
    found: dict[str, Any] = {}
    for name, change in changes.items():
        place: Path = ("settings", str(name))
        if name not in AT_START and name != "engines":
            faults.append((place, _why_not(str(name))))
        elif not isinstance(change, Mapping):
            faults.append((place, "should be an object"))
        elif name == "engines":
            found[name] = _engines_of(base, change, place, faults)
        else:
            found[name] = _section(name, getattr(base, name), change, place, faults)
    return base.model_copy(update=found)


def place_of(location: tuple[str | int, ...], given: Any) -> Path:
    """Return where something is wrong, as the person who wrote it sees it: without the names of models' kinds."""
    path: list[str | int] = []
    for number, name in enumerate(location):
        is_there = (isinstance(given, Mapping) and name in given) or (isinstance(given, list) and isinstance(name, int))
        is_missing_field = isinstance(given, Mapping) and number == len(location) - 1 and name != "[key]"
        if is_there or is_missing_field:
            path.append(name)
            given = given[name] if is_there else None
    return tuple(path)


def reason_of(row: Mapping[str, Any]) -> str:
    """Return what a validation found, without any value."""
    return str(row["msg"]).removeprefix("Value error, ")


def _section(name: str, base: BaseModel, change: Mapping[str, Any], place: Path, faults: Faults) -> BaseModel:
    fields = type(base).model_fields
    fixed = AT_START[name]
    faults += [((*place, each), f"there is no such setting; there are {', '.join(_changeable(name, base))}")
               for each in change if each not in fields]  # fmt: skip
    faults += [((*place, each), _at_start(f"{name}__{each}".upper())) for each in change if each in fixed]
    values = base.model_dump() | {each: value for each, value in change.items() if each in fields and each not in fixed}
    try:
        section = type(base).model_validate(values)
    except ValidationError as error:
        faults += [((*place, *place_of(row["loc"], values)), reason_of(row)) for row in error.errors()]
        return base
    too_large = list(_too_large(section.model_dump(), place))
    faults += too_large
    if not too_large and isinstance(section, DebounceSettings) and section.most_seconds > YEAR_SECONDS:
        faults.append((place, f"the longest wait, idle_seconds times most_windows, should be at most {YEAR_SECONDS}"))
    return section


def _engines_of(base: Settings, change: Mapping[str, Any], place: Path, faults: Faults) -> dict[str, EngineSettings]:
    values: dict[str, Any] = {name: engine for name, engine in base.engines.items() if name not in change}
    for name, engine in change.items():
        if engine is not None:
            values[name] = _engine(base.engines.get(name), engine)
    try:
        engines = _engines.validate_python(values)
    except ValidationError as error:
        faults += [((*place, *place_of(row["loc"], values)), reason_of(row)) for row in error.errors()]
        return dict(base.engines)
    for name, found in engines.items():
        faults += _too_large(found.model_dump(), (*place, name))
    return engines


def _engine(base: EngineSettings | None, change: Any) -> Any:
    if base is None or not isinstance(change, Mapping) or change.get("kind", base.kind) != base.kind:
        return change
    return base.model_dump() | dict(change)


def _too_large(values: Mapping[str, Any], place: Path) -> Iterator[tuple[Path, str]]:
    for path, value in leaves(values):
        if len(path) == 1 and isinstance(value, int | float):
            name = str(path[0])
            most = next((most for unit, most in MOST.items() if name.endswith(unit)), MOST_OF_OTHERS)
            if not (math.isfinite(value) and value <= most):
                yield (*place, name), f"should be at most {most}"


def _changeable(name: str, base: BaseModel) -> list[str]:
    return [field for field in type(base).model_fields if field not in AT_START[name]]


def _why_not(name: str) -> str:
    if name not in Settings.model_fields:
        return f"there is no such section; there are {', '.join([*AT_START, 'engines'])}"
    alias = Settings.model_fields[name].validation_alias
    if isinstance(alias, AliasChoices):
        return _at_start(str(alias.choices[-1]), prefix="")
    section = isinstance(Settings.model_fields[name].default, BaseModel)
    return _at_start(f"{name.upper()}__..." if section else name.upper())


def _at_start(variable: str, prefix: str = PREFIX) -> str:
    return f"counts when a process starts: set the environment variable {prefix}{variable} and start the processes anew"
