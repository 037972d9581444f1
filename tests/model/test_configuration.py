"""Places in a document: named, found, changed and compared."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wechat_bridge.model.configuration import changed, find, leaves, path_of, with_value, without, written

DOCUMENT: dict[str, Any] = {
    "settings": {"debounce": {"idle_seconds": 2}},
    "events": {
        "types": {"user": {}, "user.login": {"dedupe": {"by": "none"}}},
        "routes": [{"type": "a"}, {"type": "b"}],
    },
}

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=3), below, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("settings.debounce.idle_seconds", ("settings", "debounce", "idle_seconds")),
        ("events.types.user.login.dedupe.by", ("events", "types", "user.login", "dedupe", "by")),
        ('events.types."user.login".dedupe', ("events", "types", "user.login", "dedupe")),
        ('events.types."pay.back".schema', ("events", "types", "pay.back", "schema")),
        ("events.types.pay.back", ("events", "types", "pay", "back")),
        ("events.routes.1.type", ("events", "routes", 1, "type")),
        ("settings.engines.7", ("settings", "engines", "7")),
    ],
)
def test_a_place_is_understood_as_people_write_it(text: str, path: tuple[str | int, ...]) -> None:
    assert path_of(text, DOCUMENT) == path
    assert path_of(written(path), DOCUMENT) == path


@pytest.mark.parametrize("text", ["", ".", "a..b", "a.", '"', 'a."b', '""'])
def test_what_names_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="names with dots between them"):
        path_of(text, DOCUMENT)


def test_a_value_is_set_where_nothing_was_and_within_lists() -> None:
    assert with_value({}, ("a", "b"), 1) == {"a": {"b": 1}}
    assert find(with_value(DOCUMENT, ("events", "routes", 1, "type"), "c"), ("events", "routes", 1)) == {"type": "c"}
    assert find(DOCUMENT, ("events", "routes", 1)) == {"type": "b"}, "the document itself is left alone"


@pytest.mark.parametrize("path", [("events", "routes", 2, "type"), ("events", "routes", "x"), ("a", 0), ("n", "x")])
def test_there_is_no_way_through_a_value_or_beyond_a_list(path: tuple[str | int, ...]) -> None:
    with pytest.raises(LookupError):
        with_value({**DOCUMENT, "n": 1}, path, 1)


def test_what_is_taken_away_leaves_no_empty_objects() -> None:
    left = without(DOCUMENT, ("settings", "debounce", "idle_seconds"))
    assert "settings" not in left
    assert without(DOCUMENT, ("events", "routes", 0))["events"]["routes"] == [{"type": "b"}]
    assert without(DOCUMENT, ("events", "routes", 0, "type"))["events"]["routes"] == [{}, {"type": "b"}]
    with pytest.raises(LookupError):
        without(DOCUMENT, ("settings", "reply"))


def test_a_change_of_kind_alone_is_a_change() -> None:
    assert changed({"a": 1, "b": True, "c": 2}, {"a": True, "b": 1, "c": 2}) == [("a",), ("b",)]
    assert changed({"a": [1, 2]}, {"a": [1]}) == [("a", 1)]
    assert changed({"a": {}}, {"a": []}) == [("a",)]


def test_an_empty_object_that_is_filled_is_told_by_what_fills_it() -> None:
    assert changed({}, {"a": {"b": 1}}) == [("a", "b")]
    assert changed({"a": {"b": 1}}, {"a": {}}) == [("a", "b")]


@given(values, values)
def test_two_documents_differ_exactly_when_some_place_does(one: Any, other: Any) -> None:
    alike = repr(one) == repr(other) or sorted(map(repr, leaves(one))) == sorted(map(repr, leaves(other)))
    assert (changed(one, other) == []) == alike


@given(values)
def test_every_place_is_found_again(value: Any) -> None:
    assert all(find(value, path) == leaf for path, leaf in leaves(value))
