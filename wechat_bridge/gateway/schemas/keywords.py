"""JSON Schema (draft 2020-12) with our own words for some keywords.

Theirs would name several fields in one error, quote values, round amounts, or take a hostile payload as an occasion to
run for hours: regular expressions with backtracking, ``uniqueItems`` that compares each with each. All are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from wechat_bridge.gateway.schemas.patterns import found_in
from wechat_bridge.gateway.schemas.steps import Keyword, counted

KNOWN = "wechat-bridge:known"
"""Our own keyword, see ``strict``: the names and patterns of all fields that there may be."""

FORBIDDEN = "wechat-bridge:forbidden"
"""Our own keyword, see ``strict``: what stands for ``false``, whose error would not say where it is."""

UNKNOWN_FIELD = "is not a known field"

Errors = Iterator[ValidationError]


def _required(_: Any, names: list[str], instance: Any, __: Mapping[str, Any]) -> Errors:
    if isinstance(instance, dict):
        yield from (ValidationError("is missing", path=(name,)) for name in names if name not in instance)


def _pattern(_: Any, pattern: str, instance: Any, __: Mapping[str, Any]) -> Errors:
    if isinstance(instance, str) and not found_in(pattern, instance):
        yield ValidationError(f"should fit the pattern {pattern}")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], instance: Any, _: Mapping[str, Any]) -> Errors:
    if isinstance(instance, dict):
        for pattern, schema in patterns.items():
            for name, value in instance.items():
                if found_in(pattern, name):
                    yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _additional(validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Any]) -> Errors:
    if not isinstance(instance, dict):
        return
    for name in _others(instance, schema.get("properties", ()), schema.get("patternProperties", ())):
        if allowed is False:
            yield ValidationError(UNKNOWN_FIELD, path=(name,))
        else:
            yield from validator.descend(instance[name], allowed, path=name)


def _known(_: Any, known: Mapping[str, Any], instance: Any, __: Mapping[str, Any]) -> Errors:
    if isinstance(instance, dict):
        for name in _others(instance, known["names"], known["patterns"]):
            yield ValidationError(UNKNOWN_FIELD, path=(name,))


def _forbidden(_: Any, __: Any, ___: Any, ____: Mapping[str, Any]) -> Errors:
    yield ValidationError("is not allowed here")


def _others(instance: Mapping[str, Any], names: Iterable[str], patterns: Iterable[str]) -> Iterator[str]:
    known = frozenset(names)
    for name in instance:
        if name not in known and not any(found_in(pattern, name) for pattern in patterns):
            yield name


def _unique(_: Any, wanted: bool, instance: Any, __: Mapping[str, Any]) -> Errors:
    if wanted and isinstance(instance, list) and len({_frozen(each) for each in instance}) != len(instance):
        yield ValidationError("should not have the same item twice")


def _frozen(value: Any) -> Any:
    """Return something that is equal for equal JSON values only, and can be put into a set: 1 is 1.0, but not true."""
    if isinstance(value, dict):
        return ("object", frozenset((name, _frozen(each)) for name, each in value.items()))
    if isinstance(value, list):
        return ("array", *map(_frozen, value))
    return ("bool", value) if isinstance(value, bool) else value


def _multiple_of(_: Any, divisor: float, instance: Any, __: Mapping[str, Any]) -> Errors:
    is_number = isinstance(instance, int | float) and not isinstance(instance, bool)
    if is_number and Fraction(repr(instance)) % Fraction(repr(divisor)):
        yield ValidationError(f"should be a multiple of {divisor}")


OWN: dict[str, Keyword] = {
    "required": _required,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "uniqueItems": _unique,
    "multipleOf": _multiple_of,
    KNOWN: _known,
    FORBIDDEN: _forbidden,
}

_COUNTED = {name: counted(keyword) for name, keyword in {**Draft202012Validator.VALIDATORS, **OWN}.items()}

EventValidator: Any = extend(Draft202012Validator, validators=_COUNTED)  # type: ignore[no-untyped-call]
