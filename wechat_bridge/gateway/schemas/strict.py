"""Closes a strict JSON Schema: a field that no part of it mentions is an error.

That holds wherever an object is described by ``properties``, also of other parts for the same place (``allOf``,
``$ref``, ...), unless one says itself what further fields there may be (``additionalProperties``,
``unevaluatedProperties``). An object of which nothing is said but that it is one stays open.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wechat_bridge.gateway.schemas.keywords import FORBIDDEN, KNOWN
from wechat_bridge.gateway.schemas.parts import INSIDE, LISTS, MAPS, ONE, Schema, in_place


@dataclass
class _Fields:
    names: set[str] = field(default_factory=set)
    patterns: set[str] = field(default_factory=set)
    is_open: bool = False


def prepared(root: Schema, strict: bool) -> Schema:
    """Return a copy for the validator, closed if ``strict``. The schema has been checked, see ``json_schema_check``."""
    found: Schema = _prepared(root, root, closing=strict, strict=strict)
    return found


def _prepared(schema: Any, root: Schema, closing: bool, strict: bool) -> Any:
    """``closing``: nothing but this schema describes the value; what it does not mention is unknown."""
    if not isinstance(schema, dict):
        return {FORBIDDEN: True} if schema is False else schema
    copy = {keyword: _prepared_value(keyword, value, root, strict) for keyword, value in schema.items()}
    if closing:
        fields = _Fields()
        _gather(schema, root, fields, set())
        if not fields.is_open and (fields.names or fields.patterns):
            copy[KNOWN] = {"names": frozenset(fields.names), "patterns": tuple(sorted(fields.patterns))}
    return copy


def _prepared_value(keyword: str, value: Any, root: Schema, strict: bool) -> Any:
    closing = strict and keyword in INSIDE
    if value is False:
        return value  # additionalProperties and the like say themselves what is unknown
    if keyword in ONE:
        return _prepared(value, root, closing, strict)
    if keyword in LISTS:
        return [_prepared(each, root, closing, strict) for each in value]
    if keyword in MAPS:
        return {name: _prepared(each, root, closing, strict) for name, each in value.items()}
    return value


def _gather(schema: Any, root: Schema, fields: _Fields, seen: set[int]) -> None:
    if not isinstance(schema, dict) or id(schema) in seen:
        return
    seen.add(id(schema))
    fields.names.update(schema.get("properties", ()))
    fields.patterns.update(schema.get("patternProperties", ()))
    fields.is_open |= "additionalProperties" in schema or "unevaluatedProperties" in schema
    for part in in_place(root, schema):
        _gather(part, root, fields, seen)
