"""Layouts and descriptors that cannot work are found before they are in force."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.adapters.formats import LAYOUT, VENDOR, rules
from wechat_bridge.gateway.adapters.check import faults


def test_the_rules_of_the_payment_are_without_fault() -> None:
    assert list(faults(rules())) == []


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        ({"type": "text", "prefixed": True, "length": 3}, "length: should be 1, 2 or 4"),
        ({"type": "text"}, "length: only the last field"),
        ({"type": "bytes", "length": 1, "as_text": True}, "type: bytes takes neither"),
        ({"type": "text", "length": 1, "divide_by": 2}, "type: text takes neither"),
        ({"type": "u8", "length": 1}, "type: u8 takes neither"),
        ({"type": "u8", "prefixed": True}, "type: u8 takes neither"),
        ({"type": "u8", "as_text": True, "divide_by": 3}, "divide_by: should be 1, 10"),
        ({"type": "bool", "as_text": True}, "type: bool takes neither"),
    ],
)
def test_a_field_that_makes_no_sense_is_named_by_its_path(field: dict[str, Any], complaint: str) -> None:
    layout = {"magic": "00", "fields": [{"name": "a", **field}, {"name": "z", "type": "u8"}]}
    [fault] = faults(rules(binary={VENDOR: layout}))
    assert fault.startswith(f"binary.{VENDOR}.fields[0].{complaint}")


@pytest.mark.parametrize("names", [("a", "a"), ("a", "a.b"), ("a.b", "a"), ("a.b.c", "a.b")])
def test_two_fields_in_one_place_are_named(names: tuple[str, str]) -> None:
    layout = {"magic": "00", "fields": [{"name": name, "type": "u8"} for name in names]}
    [fault] = faults(rules(binary={VENDOR: layout}))
    assert fault.startswith(f"binary.{VENDOR}.fields[1].name: ")


def test_all_faults_are_told_at_once() -> None:
    bad = rules(
        binary={"no type": LAYOUT, "a/b; c=d": LAYOUT},
        protobuf={"x": {"descriptor_set": "", "message": "m"}, "y": {"descriptor_set": "%", "message": "m"}},
    )
    assert [fault.partition(":")[0] for fault in faults(bad)] == [
        "protobuf.x.descriptor_set", "protobuf.y.descriptor_set", "binary.no type", "binary.a/b; c=d",
    ]  # fmt: skip
