"""Whatever is sent as whatever: it is refused, in bounded time and memory, and nothing else is raised."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.gateway.adapters.formats import BINARY, JSON, VENDOR, XML, adapters, frame, laid_out, protobuf_payment
from wechat_bridge.errors import EventRefused, MessageParseError, PayloadTooLarge
from wechat_bridge.model.event import JsonObject

CONTENT_TYPES = ["application/json", "application/xml", "application/x-protobuf", "application/octet-stream"]
SAMPLES = dict(zip(CONTENT_TYPES, (JSON, XML, protobuf_payment(), BINARY), strict=True))
READING = adapters(limits={"most_bytes": 100_000, "most_depth": 8, "most_nodes": 1_000})


def refused_or_read(raw: bytes, content_type: str, event_type: str = "") -> JsonObject | None:
    """Read it; what is read can be written as JSON, and is the same again."""
    try:
        payload = READING.parse(raw, content_type, event_type)
    except EventRefused:
        return None
    written = json.dumps(payload, ensure_ascii=False, allow_nan=False).encode()
    assert json.loads(written) == payload
    return payload


CHARSETS = st.sampled_from(
    ["", "; charset=utf-8", "; charset=gbk", "; charset=utf-16", "; charset=x", "; charset=latin1"]
)


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(raw=st.binary(max_size=400) | st.text(max_size=400).map(lambda text: text.encode("utf-8", "surrogatepass")),
       charset=CHARSETS)  # fmt: skip
def test_a5_any_bytes_are_read_or_refused(content_type: str, raw: bytes, charset: str) -> None:
    assert refused_or_read(raw, content_type + charset) is None or content_type != "application/octet-stream"


@st.composite
def damaged(draw: st.DrawFn, sample: bytes) -> bytes:
    """A good event with a piece cut out, doubled, replaced or put elsewhere."""
    start = draw(st.integers(0, len(sample)))
    end = draw(st.integers(start, min(len(sample), start + 12)))
    piece = sample[start:end]
    instead = draw(st.sampled_from([b"", piece * 2, piece[::-1], piece.swapcase()]) | st.binary(max_size=6))
    return sample[:start] + instead + sample[end:]


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a5_a_damaged_event_is_read_or_refused(content_type: str, data: st.DataObject) -> None:
    raw = data.draw(damaged(data.draw(damaged(SAMPLES[content_type]))))
    payload = refused_or_read(raw, content_type)
    assert payload is None or content_type != "application/octet-stream" or raw == BINARY


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    LEAVES, lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3)
)


@settings(max_examples=120, deadline=None)
@given(value=st.dictionaries(st.text(max_size=5), VALUES, max_size=4))
def test_any_json_that_can_be_written_is_read_as_it_is_or_refused_for_a_reason(value: JsonObject) -> None:
    text = json.dumps(value)
    payload = refused_or_read(text.encode("utf-8", "surrogatepass"), "application/json")
    has_reason = "NaN" in text or "Infinity" in text or "\\ud" in text
    assert payload == value or has_reason or not _fits(value)


def _fits(value: Any, depth: int = 1) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth <= 8 + (not isinstance(value, dict | list)) and all(_fits(each, depth + 1) for each in inside)


KINDS = st.sampled_from(["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64", "bool", "text", "bytes"])


@settings(max_examples=100, deadline=None)
@given(kinds=st.lists(KINDS, min_size=1, max_size=4), body=st.binary(max_size=60), prefixed=st.booleans())
def test_a5_any_body_of_any_layout_is_read_or_refused(kinds: list[str], body: bytes, prefixed: bool) -> None:
    texts = {"prefixed": True, "length": 1} if prefixed else {"length": 3}
    fields = [{"name": f"f{n}", "type": kind, **(texts if kind in {"text", "bytes"} else {})}
              for n, kind in enumerate(kinds)]  # fmt: skip
    try:
        payload = laid_out(fields).parse(frame(body), "application/octet-stream")
    except MessageParseError:
        return
    assert [*payload] == [field["name"] for field in fields]


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
@pytest.mark.parametrize("sent_as", [*CONTENT_TYPES, VENDOR])
def test_a5_an_event_that_is_labelled_as_another_format_is_refused(content_type: str, sent_as: str) -> None:
    is_right = sent_as == content_type or {sent_as, content_type} == {VENDOR, "application/octet-stream"}
    assert (refused_or_read(SAMPLES[content_type], sent_as) is not None) == is_right


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_a6_ten_megabytes_are_refused_before_anything_looks_at_them(content_type: str) -> None:
    reading, raw = adapters(), SAMPLES[content_type] * (10 * 1024 * 1024 // len(SAMPLES[content_type]))
    began = time.process_time()
    with pytest.raises(PayloadTooLarge):
        reading.parse(raw, content_type)
    assert time.process_time() - began < 0.1


@pytest.mark.slow
def test_a6_a_megabyte_of_malice_costs_little_time_and_memory(repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.gateway.adapters.hostile"],
        cwd=repository, capture_output=True, text=True, check=True,
    )  # fmt: skip
    costs: dict[str, tuple[str, float, float]] = json.loads(done.stdout)
    read = {name for name, (kind, _, _) in costs.items() if not kind}
    assert read == {"xml attributes", "xml namespaces", "protobuf strings"}, "what is within the limits, however odd"
    assert {name: cost for name, cost in costs.items() if cost[1] > 2.0 or cost[2] > 64} == {}
