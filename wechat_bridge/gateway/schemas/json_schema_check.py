"""What is wrong with a JSON Schema, found before it is in force."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator

from wechat_bridge.gateway.schemas.faults import Fault, path_of, shortened
from wechat_bridge.gateway.schemas.formats import FORMATS
from wechat_bridge.gateway.schemas.parts import Schema, all_parts, in_place, target
from wechat_bridge.gateway.schemas.patterns import check_pattern

DRAFT = "https://json-schema.org/draft/2020-12/schema"
MOST_PARTS = 2_000
REFUSED = ("$dynamicRef", "$dynamicAnchor", "$anchor", "$recursiveRef")


def schema_faults(schema: Schema) -> Iterator[Fault]:
    """Yield paths and what is wrong there."""
    try:
        if sum(1 for _ in islice(all_parts(schema), MOST_PARTS + 1)) > MOST_PARTS:
            yield "", f"has more than {MOST_PARTS} parts"
            return
        faults = list(_by_draft(schema)) or [*_by_house(schema)]
        yield from faults or _circles(schema)
    except RecursionError:
        yield "", "is nested too deeply"


def _by_draft(schema: Schema) -> Iterator[Fault]:
    if str(schema.get("$schema", DRAFT)).rstrip("#") != DRAFT:
        yield "$schema", f"should be {DRAFT}, or left out"
        return
    validator: Any = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    yield from ((path_of(error.absolute_path), shortened(error.message)) for error in validator.iter_errors(schema))


def _by_house(root: Schema) -> Iterator[Fault]:
    for steps, schema in all_parts(root):
        yield from ((path_of((*steps, *way)), reason) for way, reason in _part(root, steps, schema))


def _part(root: Schema, steps: tuple[object, ...], schema: Schema) -> Iterator[tuple[tuple[object, ...], str]]:
    yield from (((name,), "is not supported; use $ref") for name in REFUSED if name in schema)
    if "$id" in schema and steps:
        yield ("$id",), "is allowed for the whole only"
    if "format" in schema and schema["format"] not in FORMATS:
        yield ("format",), f"is not checked here; these are: {', '.join(FORMATS)}"
    if "unevaluatedProperties" in schema and any("patternProperties" in part for _, part in all_parts(root)):
        yield ("unevaluatedProperties",), "cannot be had together with patternProperties; use additionalProperties"
    if "$ref" in schema:
        yield from _complaint(("$ref",), lambda: _check_reference(root, schema["$ref"]))
    if "pattern" in schema:
        yield from _complaint(("pattern",), lambda: check_pattern(schema["pattern"]))
    for pattern in schema.get("patternProperties", ()):
        yield from _complaint(("patternProperties", pattern), lambda pattern=pattern: check_pattern(pattern))


def _complaint(way: tuple[object, ...], check: Any) -> Iterator[tuple[tuple[object, ...], str]]:
    try:
        check()
    except ValueError as error:
        yield way, str(error)


def _check_reference(root: Schema, reference: str) -> None:
    known = {id(part) for _, part in all_parts(root)}
    found = target(root, reference)
    if not isinstance(found, bool) and id(found) not in known:
        raise ValueError("refers to something that is no schema")


def _circles(root: Schema) -> Iterator[Fault]:
    """Yield references that lead back to themselves without going a step into the payload: they never end."""
    good: set[int] = set()
    for steps, schema in all_parts(root):
        if not _ends(root, schema, good, set()):
            yield path_of(steps), "refers to itself for the same value, which never ends"
            return


def _ends(root: Schema, schema: Any, good: set[int], above: set[int]) -> bool:
    if not isinstance(schema, dict) or id(schema) in good:
        return True
    if id(schema) in above:
        return False
    if not all(_ends(root, part, good, above | {id(schema)}) for part in in_place(root, schema)):
        return False
    good.add(id(schema))
    return True
