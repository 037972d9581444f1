from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wechat_bridge.channels.ilink.lenient import JsonText, as_int, as_number, clean, compact, loads, storable

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "number",
    ["0", "-1", "7461203398120011001", "18446744073709551615", "1" * 5000, "1.50", "1E400", "-0.0", "1e-7", "2.0"],
)
def test_numbers_are_written_as_they_were_received(number: str) -> None:
    assert compact(loads(f'{{"id": [{number}]}}'.encode())) == f'{{"id":[{number}]}}'


def test_spaces_go_and_everything_else_stays() -> None:
    body = b' { "a" : [ 1 , { } , [ ] , null , true , "x y" ] , "b" : "" } '
    assert compact(loads(body)) == '{"a":[1,{},[],null,true,"x y"],"b":""}'


def test_what_can_be_read_can_be_written_however_deep() -> None:
    deep = "[" * 500 + "]" * 500
    assert compact(loads(deep.encode())) == deep


def test_broken_characters_cost_nothing_but_themselves() -> None:
    assert loads(b'\xef\xbb\xbf{"text":"a\xffb\nc"}') == {"text": "a�b\nc"}


def test_numbers_that_are_none_become_null() -> None:
    assert loads(b"[NaN, Infinity, -Infinity, 1]") == [None, None, None, 1]


def test_a_lone_surrogate_stays_escaped_and_a_pair_becomes_its_character() -> None:
    assert compact(loads(rb'["\ud83d", "\ud83d\ude00", "\u0000"]')) == '["\\ud83d","😀","\\u0000"]'


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b"{'a':1}", b"[1,]"])
def test_what_is_no_json_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError):
        loads(body)


@settings(deadline=None)
@given(JSON)
def test_compact_is_json_with_the_same_meaning(value: object) -> None:
    written = compact(loads(json.dumps(value).encode()))
    assert json.loads(written) == value
    assert written.encode()


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        (7, 7),
        ("7", 7),
        ("-14", -14),
        (2**64, 2**64),
        ("", None),
        ("7.0", None),
        (" 7", None),
        ("٧", None),
        (True, None),
        (1.0, None),
        (JsonText("1.0"), None),
        (None, None),
        ([], None),
        ("1" * 21, None),
    ],
)
def test_whole_numbers_come_as_numbers_or_digits(value: object, whole: int | None) -> None:
    assert as_int(value) == whole


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (35000, 35000.0),
        ("35000", 35000.0),
        (JsonText("1.79e12"), 1.79e12),
        (1.5, 1.5),
        (JsonText("1E400"), None),
        (10**400, None),
        ("soon", None),
        (True, None),
        (None, None),
        ({}, None),
    ],
)
def test_numbers_are_read_in_any_writing(value: object, number: float | None) -> None:
    assert as_number(value) == number


def test_clean_keeps_what_people_write() -> None:
    assert clean("a\x00b\x01\tc\nd\r\n\x1f👩‍👩‍👧\ud83d") == "ab\tc\nd\r\n👩‍👩‍👧�"
    assert clean(7) == clean(None) == clean(["x"]) == ""


def test_storable_touches_only_what_cannot_be_stored() -> None:
    assert storable("\x01a\udc00") == "\x01a�"
