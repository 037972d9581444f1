"""Streams of events, whatever their pieces and line ends."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wechat_bridge.engines.sse import Event, events

STREAM = (
    "\ufeff: hello\r\nevent: answer\ndata: 你好\n\rdata:two\r\ndata:  lines\r\n\r\nid: 3\ndata\n\ndata: {last}".encode()
)
EXPECTED = [Event("answer", "你好"), Event("", "two\n lines"), Event("", ""), Event("", "{last}")]


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_a_stream_means_the_same_wherever_its_pieces_end(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in pairwise(edges)]
    assert list(events(pieces)) == EXPECTED


@pytest.mark.parametrize("stream", [b"", b"\n\n\n", b": only a comment\n\n", b"event: ping\n\n"])
def test_a_stream_without_data_has_no_events(stream: bytes) -> None:
    assert list(events([stream])) == []


def test_a_line_of_megabytes_in_small_pieces_is_read_once() -> None:
    found = list(events([b"data: ", *[b"x" * 1000] * 4000, b"\n\n"]))
    assert [len(event.data) for event in found] == [4_000_000]
