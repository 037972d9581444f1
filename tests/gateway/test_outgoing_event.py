"""What a target gets of an event: one documented object, exact, and nothing of the headers it came with."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone

import pytest

from tests.gateway.handed_over import RECEIVED, TRACE_ID, event
from wechat_bridge.gateway.outgoing_event import outgoing_body, outgoing_event, outgoing_headers
from wechat_bridge.model.event import EventSource


def test_it_is_the_documented_object() -> None:
    assert outgoing_event(event(attempts=2)) == {
        "id": "evt-1",
        "type": "payment.callback",
        "source": "http",
        "received_at": "2026-11-30T12:00:00.123456Z",
        "trace_id": TRACE_ID,
        "attempt": 2,
        "payload": {"orderId": "0042", "status": "SUCCESS"},
        "sources": [],
    }


def test_a_merged_event_names_those_it_was_made_of() -> None:
    merged = outgoing_event(event({"items": [1, 2]}, sources=("evt-2", "evt-3"), source=EventSource.BROKER))
    assert (merged["sources"], merged["source"], merged["payload"]) == (["evt-2", "evt-3"], "broker", {"items": [1, 2]})


@pytest.mark.parametrize(
    "moment",
    [RECEIVED, RECEIVED.replace(tzinfo=None), RECEIVED.astimezone(timezone(timedelta(hours=8)))],
)
def test_the_time_is_utc_however_it_is_kept(moment: datetime) -> None:
    assert outgoing_event(event(received_at=moment))["received_at"] == "2026-11-30T12:00:00.123456Z"


def test_the_first_attempt_is_number_one() -> None:
    assert outgoing_event(event(attempts=0))["attempt"] == 1


def test_the_body_is_exact_json_in_utf8() -> None:
    payload = {"id": 2**80 + 1, "amount": 12.5, "name": "已收到", "none": None, "leading": "0042", "yes": True}
    body = outgoing_body(event(payload))
    assert json.loads(body)["payload"] == payload
    assert "已收到".encode() in body
    assert str(2**80 + 1).encode() in body


def test_g2_each_attempt_is_a_span_of_its_own_in_the_trace_of_the_event() -> None:
    spans = set()
    for _ in range(20):
        headers = outgoing_headers(event())
        assert headers.pop("x-event-id") == "evt-1"
        found = re.fullmatch(r"00-([0-9a-f]{32})-([0-9a-f]{16})-01", headers.pop("traceparent"))
        assert found
        assert found[1] == TRACE_ID
        assert headers == {}
        spans.add(found[2])
    assert len(spans) == 20
    assert "0" * 16 not in spans


def test_headers_that_came_with_it_stay_here() -> None:
    came = event(headers={"authorization": "Bearer s3cret", "x-signature": "s3cret", "traceparent": "s3cret"})
    assert "s3cret" not in json.dumps([outgoing_event(came), outgoing_headers(came)])
