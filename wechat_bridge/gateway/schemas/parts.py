"""The schemas inside a JSON Schema, and where the values stand that they describe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Schema = dict[str, Any]
Step = str | int

OTHER_PLACE = {"items", "additionalProperties", "contains", "unevaluatedItems", "unevaluatedProperties"}
OTHER_PLACE_LISTS = {"prefixItems"}
OTHER_PLACE_MAPS = {"properties", "patternProperties"}
SAME_PLACE = {"not", "if", "then", "else"}
SAME_PLACE_LISTS = {"allOf", "anyOf", "oneOf"}
SAME_PLACE_MAPS = {"dependentSchemas"}
APART = {"propertyNames"}
APART_MAPS = {"$defs", "definitions"}

ONE = OTHER_PLACE | SAME_PLACE | APART
LISTS = OTHER_PLACE_LISTS | SAME_PLACE_LISTS
MAPS = OTHER_PLACE_MAPS | SAME_PLACE_MAPS | APART_MAPS
IN_PLACE = SAME_PLACE | SAME_PLACE_LISTS | SAME_PLACE_MAPS
INSIDE = OTHER_PLACE | OTHER_PLACE_LISTS | OTHER_PLACE_MAPS


def parts(schema: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Step, ...], Any]]:
    """Yield each schema directly inside: its keyword, the steps to it, itself (an object, or true or false)."""
    for keyword, value in schema.items():
        if keyword in ONE:
            yield keyword, (keyword,), value
        elif keyword in LISTS and isinstance(value, list):
            yield from ((keyword, (keyword, index), each) for index, each in enumerate(value))
        elif keyword in MAPS and isinstance(value, dict):
            yield from ((keyword, (keyword, name), each) for name, each in value.items())


def all_parts(schema: Any, steps: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], Schema]]:
    """Yield the schema and all inside it that are objects, each with the steps to it."""
    if isinstance(schema, dict):
        yield steps, schema
        for _, way, part in parts(schema):
            yield from all_parts(part, steps + way)


def target(root: Schema, reference: str) -> Any:
    """Return the schema that a reference within the document names. Raises ValueError for any other."""
    if reference != "#" and not reference.startswith("#/"):
        raise ValueError("should refer to a part of the same schema, as in #/$defs/user; nothing is ever fetched")
    found: Any = root
    for step in reference.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        try:
            found = found[int(name)] if isinstance(found, list) else found[name]
        except (LookupError, ValueError, TypeError):
            raise ValueError("refers to a part that the schema does not have") from None
    return found


def in_place(root: Schema, schema: Schema) -> Iterator[Any]:
    """Yield the schemas that describe the same value as ``schema`` does, and belong to it."""
    yield from (part for keyword, _, part in parts(schema) if keyword in IN_PLACE)
    if "$ref" in schema:
        yield target(root, schema["$ref"])
