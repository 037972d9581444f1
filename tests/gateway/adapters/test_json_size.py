"""How large a JSON text will be is known before any of it is made."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wechat_bridge.errors import MessageParseError, PayloadTooLarge
from wechat_bridge.gateway.adapters.base import ContentType
from wechat_bridge.gateway.adapters.json import JsonAdapter
from wechat_bridge.gateway.adapters.json_size import check_size
from wechat_bridge.model.event_rules import Limits

VALUES = st.recursive(
    st.none() | st.integers() | st.text('[]{},"\\ a', max_size=6),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text('{"\\', max_size=2), inside, max_size=3),
    max_leaves=12,
)


def nodes(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(nodes, inside))


def levels(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inside is None else 1 + max(map(levels, inside), default=0)


def is_small(text: str, **limits: int) -> bool:
    try:
        check_size(text, Limits(**limits))
    except PayloadTooLarge:
        return False
    return True


@settings(max_examples=150, deadline=None)
@given(value=VALUES, spaced=st.booleans())
def test_a6_values_and_levels_are_counted_exactly(value: Any, spaced: bool) -> None:
    text = json.dumps(value, indent=1 if spaced else None)
    assert is_small(text, most_nodes=nodes(value), most_depth=max(1, levels(value)))
    if nodes(value) > 1:
        assert not is_small(text, most_nodes=nodes(value) - 1)
    if levels(value) > 1:
        assert not is_small(text, most_depth=levels(value) - 1)


@pytest.mark.parametrize("part", [",[]", ",0", ',{"a":1}', "[", ',"a":1'])
def test_a6_of_a_text_with_too_many_values_none_is_made(part: str) -> None:
    raw = b'{"a":[0' + part.encode() * 100_000
    JsonAdapter(Limits()).parse(b'{"warm": "up"}', ContentType("application/json"))
    tracemalloc.start()
    try:
        with pytest.raises((PayloadTooLarge, MessageParseError)):
            JsonAdapter(Limits(most_nodes=1_000)).parse(raw, ContentType("application/json"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * len(raw) + 200_000
