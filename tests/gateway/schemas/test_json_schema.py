"""JSON Schemas hold events of strangers: exactly, with our own words, in bounded time."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gateway.schemas.events import faults, of
from wechat_bridge.errors import ValidationError


def found(schema: dict[str, Any], value: Any, mode: str = "passthrough") -> dict[str, str]:
    """What is wrong with the field ``a`` of an event."""
    return faults(of({"properties": {"a": schema}}, mode), "e", {"a": value})


def fits(schema: dict[str, Any], value: Any, mode: str = "passthrough") -> bool:
    return of({"properties": {"a": schema}}, mode).validate("e", {"a": value}) == {"a": value}


@pytest.mark.parametrize(
    ("schema", "wrong", "reason"),
    [
        ({"type": ["string", "null"]}, 1, "should be string, null"),
        ({"enum": ["A", "B"]}, "hunter2", "should be one of A, B"),
        ({"const": 5}, 6, "should be 5"),
        ({"minimum": 1}, 0, "should be at least 1"),
        ({"exclusiveMinimum": 0}, 0, "should be more than 0"),
        ({"maxLength": 2}, "hunter2", "should have at most 2 characters"),
        ({"minItems": 1}, [], "should have at least 1 items"),
        ({"pattern": "^x$"}, "hunter2", "should fit the pattern ^x$"),
        ({"multipleOf": 0.01}, 0.291, "should be a multiple of 0.01"),
        ({"uniqueItems": True}, [{"h": 1}, {"h": 1.0}], "should not have the same item twice"),
        ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, 1, "fits none of the alternatives"),
        ({"oneOf": [{"type": "integer"}, {"minimum": 5}]}, 7, "should fit exactly one of the alternatives"),
        ({"not": {"type": "string"}}, "hunter2", "does not fit not"),
        ({"contains": {"const": 1}}, ["hunter2"], "does not fit contains"),
        ({"unevaluatedProperties": False}, {"x": "hunter2"}, "has fields that are not known"),
    ],
)
def test_b4_a_reason_says_what_should_be_and_not_what_is(schema: dict[str, Any], wrong: Any, reason: str) -> None:
    assert found(schema, wrong) == {"a": reason}


@pytest.mark.parametrize("schema", [
    {"properties": {"a": False}}, {"additionalProperties": False}, {"patternProperties": {"^a$": False}},
    {"properties": {"b": {}}, "allOf": [{"properties": {"a": False}}]},
])  # fmt: skip
def test_b4_what_is_forbidden_is_named(schema: dict[str, Any]) -> None:
    for mode in ("strict", "passthrough"):
        assert list(faults(of(schema, mode), "e", {"a": 1})) == ["a"]
        assert of(schema, mode).validate("e", {}) == {}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("uuid", "6f1c0a52-0c0e-4a5b-8c0f-2f6d3f1f0a11", "6f1c0a520c0e4a5b8c0f2f6d3f1f0a11"),
        ("date", "2026-02-28", "2026-02-30"),
        ("date", "2024-02-29", "20240229"),
        ("date-time", "2026-11-30T08:00:00.5+08:00", "2026-11-30T08:00:00"),
        ("date-time", "2026-11-30t08:00:00z", "2026-11-31T08:00:00Z"),
        ("time", "08:00:00Z", "25:00:00Z"),
        ("email", "a.b@example.com", "a@b@c"),
        ("hostname", "a-b.example", "-a.example"),
        ("ipv4", "192.0.2.7", "192.0.2.256"),
        ("ipv6", "2001:db8::7", "192.0.2.7"),
        ("uri", "https://example.com/x?y#z", "//example.com"),
        ("uri", "urn:x:y", "http://[::1"),
    ],
)
def test_b7_formats_are_really_checked(name: str, good: str, bad: str) -> None:
    assert fits({"format": name}, good)
    assert fits({"format": name}, 7), "a format says nothing about what is no text"
    assert found({"format": name}, bad) == {"a": f"should be a valid {name}"}


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=40))
def test_formats_never_fail_otherwise(text: str) -> None:
    names = ("uuid", "date", "date-time", "time", "email", "hostname", "ipv4", "ipv6", "uri")
    try:
        assert of({"properties": {name: {"format": name} for name in names}}).validate("e", dict.fromkeys(names, text))
    except ValidationError as error:
        assert {path for path, _ in error.errors} <= set(names)  # noqa: PT017


def test_numbers_are_exact() -> None:
    assert all(fits({"multipleOf": 0.01}, value) for value in (0.29, 12.35, 4.35, 1e15, 2**80))
    assert found({"maximum": 2**64}, 2**64 + 1)
    assert fits({"type": "integer"}, 2**80)
    assert fits({"uniqueItems": True}, [1, True, "1", [1], [True], {"a": 1}, {"a": True}, None])


LIST = {
    "$defs": {"node": {"properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}},
    "$ref": "#/$defs/node",
}
BASE = {
    "$defs": {"base": {"properties": {"id": {}, "who": {"properties": {"name": {}}}}}},
    "allOf": [{"$ref": "#/$defs/base"}],
    "properties": {"extra": {}},
    "if": {"properties": {"kind": {"const": "x"}}},
    "then": {"properties": {"x": {}}},
}


@pytest.mark.parametrize(
    ("schema", "payload", "unknown"),
    [
        (LIST, {"value": 1, "next": {"value": 2, "next": {"vaule": 3}}}, ["next.next.vaule"]),
        (BASE, {"id": 1, "who": {"name": 1}, "extra": 1, "kind": "y", "x": 1}, []),
        (BASE, {"id": 1, "who": {"nmae": 1}, "y": 1}, ["who.nmae", "y"]),
        ({"properties": {"a": {"type": "object"}}}, {"a": {"anything": 1}}, []),
        ({"properties": {"a": {"properties": {"b": {}}, "additionalProperties": True}}}, {"a": {"c": 1}}, []),
        ({"properties": {"a": {"properties": {"b": {}}, "additionalProperties": {"const": 0}}}}, {"a": {"c": 1}},
         ["a.c"]),
        ({"patternProperties": {"^x-": {"type": "string"}}}, {"x-a": "1", "y": 1}, ["y"]),
        ({"patternProperties": {"^x-": {"type": "string"}}}, {"x-a": 1}, ["x-a"]),
        ({"properties": {"a": {"prefixItems": [{"properties": {"b": {}}}]}}}, {"a": [{"c": 1}, {"c": 1}]}, ["a[0].c"]),
        ({"properties": {"a": {"anyOf": [{"properties": {"b": {}}}, {"properties": {"c": {}}}]}}}, {"a": {"d": 1}},
         ["a.d"]),
        ({"dependentSchemas": {"a": {"properties": {"b": {}}}}, "properties": {"a": {}}}, {"a": 1, "b": 2}, []),
        ({}, {"anything": 1}, []),
    ],
)  # fmt: skip
def test_b2_strict_closes_whatever_is_described_through_references_and_alternatives(
    schema: dict[str, Any], payload: dict[str, Any], unknown: list[str]
) -> None:
    if unknown:
        assert list(faults(of(schema), "e", payload)) == unknown
    else:
        assert of(schema).validate("e", payload) == payload


def test_the_schema_of_the_configuration_is_not_changed() -> None:
    before = repr(BASE)
    of(BASE)
    assert repr(BASE) == before


def seconds(schema: dict[str, Any], payload: dict[str, Any]) -> float:
    began = time.process_time()
    assert faults(of(schema, "passthrough"), "e", payload)
    return time.process_time() - began


def test_no_pattern_makes_a_hostile_text_costly() -> None:
    evil = "a" * 100_000 + "!"
    whole = {"properties": {"a": {"pattern": "^(a+)+$"}}}
    names = {"patternProperties": {"^(a|aa)+$": {}}, "additionalProperties": False}
    inside: dict[str, Any] = {"properties": {"a": {"properties": {"b": {}}, "patternProperties": {"^(a*)*$": {}}}}}
    assert seconds(whole, {"a": evil}) < 0.5
    assert seconds(names, {evil: 1}) < 0.5
    assert list(faults(of(inside), "e", {"a": {"b": 1, evil: 1}}))


def test_unique_items_do_not_compare_each_with_each() -> None:
    items = [{"n": [n]} for n in range(30_000)]
    assert seconds({"properties": {"a": {"uniqueItems": True}}}, {"a": [*items, items[0]]}) < 2


def test_a_schema_that_doubles_the_work_with_every_level_ends_soon() -> None:
    branch = [{"properties": {"kind": {"const": kind}, "of": {"$ref": "#/$defs/rule"}}} for kind in "ab"]
    schema = {"$defs": {"rule": {"oneOf": branch}}, "properties": {"rule": {"$ref": "#/$defs/rule"}}}
    rule: dict[str, Any] = {"kind": 1}
    for _ in range(28):
        rule = {"kind": "a", "of": rule}
    began = time.process_time()
    assert faults(of(schema, "passthrough"), "e", {"rule": rule})[""] == "takes too many steps to hold to its schema"
    assert time.process_time() - began < 2


def test_a_payload_deeper_than_the_schema_can_be_followed_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(500):
        deep = {"next": deep}
    assert faults(of(LIST), "e", deep) == {"": "is nested deeper than its schema can be followed"}
