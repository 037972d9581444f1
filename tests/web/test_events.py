"""Events by HTTP and WebSocket, at a real web process (acceptance A1, A4 to A6, B1, C5, C13, D5)."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
import requests
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from tests.support.system import wait_until
from tests.web.conftest import WebProcess
from wechat_bridge.gateway.api_keys import digest, new_key
from wechat_bridge.wiring import Wired

KEY, LIMITED = new_key(), new_key()
PLAIN = {"schema": {"json_schema": {"type": "object"}, "mode": "passthrough"}}
RULES: dict[str, Any] = {
    "types": {
        "plain": PLAIN,
        "once": PLAIN | {"dedupe": {"by": "key", "key": "dedup:once:{n}"}},
        "user.login": {"schema": {"model": "user.login"}},
    },
    "routes": [{"target": {"kind": "http", "url": "http://127.0.0.1:9/"}}],
    "keys": {"shop": {"sha256": digest(KEY)}, "door": {"sha256": digest(LIMITED), "types": ["door.*"]}},
    "limits": {"most_bytes": 100_000, "most_depth": 16, "most_batch": 50},
}


@pytest.fixture(scope="module")
def events(web: WebProcess, wired: Wired) -> WebProcess:
    """A web process with rules for events."""
    wired.configuration.apply({"events": RULES}, "a test")
    wait_until(lambda: post(web, {"eventType": "plain"}).status_code == 202, 10, "the rules are in force")
    return web


def post(web: WebProcess, body: Any, path: str = "/events", key: str = KEY, **headers: str) -> requests.Response:
    """Send an event."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    known = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"} | headers
    return requests.post(f"http://127.0.0.1:{web.port}{path}", raw, headers=known, timeout=20)


def test_a1_what_comes_by_http_is_kept_as_it_came(events: WebProcess, wired: Wired) -> None:
    body = b'{"eventType":  "plain", "big": 123456789012345678901234567890}'
    answer = post(events, body, **{"X-Shop": "7"})
    kept = wired.gateway.events.get(answer.json()["id"])
    assert kept is not None
    assert answer.status_code == 202
    assert (kept.raw_payload, kept.source.value, kept.headers["x-shop"]) == (body, "http", "7")
    assert kept.payload["big"] == 123456789012345678901234567890
    assert "authorization" not in kept.headers


def test_the_type_may_stand_in_the_address(events: WebProcess) -> None:
    answer = post(events, {"n": 1}, "/events/plain")
    assert (answer.status_code, answer.json()["event_type"]) == (202, "plain")


@pytest.mark.parametrize("key", ["", "wbk_wrong", "é"])
def test_without_a_good_key_nothing_is_even_read(events: WebProcess, key: str) -> None:
    answer = requests.post(
        f"http://127.0.0.1:{events.port}/events", b"{}", headers={"X-Api-Key": key.encode()}, timeout=20
    )
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_key_is_good_for_its_types_only(events: WebProcess) -> None:
    answer = post(events, {"eventType": "plain"}, key=LIMITED)
    assert answer.status_code == 400
    assert "not good for" in answer.json()["error"]


def test_a4_what_no_adapter_reads_is_415(events: WebProcess) -> None:
    assert post(events, b"x", **{"Content-Type": "image/png"}).status_code == 415


def test_b4_all_faults_are_told_with_their_paths_and_no_value(events: WebProcess) -> None:
    answer = post(events, {"eventType": "user.login", "userId": "no-uuid-secret", "ip": "999.1.1.1", "extra": 1})
    faults = {fault["path"] for fault in answer.json()["errors"]}
    assert answer.status_code == 400
    assert {"userId", "extra"} <= faults
    assert "no-uuid-secret" not in answer.text


def test_c5_a_repeat_is_a_success(events: WebProcess) -> None:
    answers = [post(events, {"eventType": "once", "n": 1}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 200]
    assert answers[1].json()["status"] == "duplicate"


def test_c13_a_batch_has_a_receipt_for_each(events: WebProcess) -> None:
    many = [{"eventType": "once", "n": 10}, {"eventType": "?"}, {"eventType": "once", "n": 10}]
    answer = post(events, many)
    assert answer.status_code == 207
    assert [each["status"] for each in answer.json()["results"]] == ["accepted", "rejected", "duplicate"]


def test_a_batch_of_lines_keeps_the_bytes_of_each(events: WebProcess, wired: Wired) -> None:
    lines = b'{"eventType": "plain", "a": 1}\n\n  {"eventType":"plain","a":2}\r\n'
    answer = post(events, lines, **{"Content-Type": "application/x-ndjson"})
    kept = [wired.gateway.events.get(each["id"]) for each in answer.json()["results"]]
    assert answer.status_code == 200
    assert [each.raw_payload for each in kept if each] == [
        b'{"eventType": "plain", "a": 1}',
        b'  {"eventType":"plain","a":2}',
    ]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 100_000, 413),
        (b"[1", 400),
        (b"[1] 2", 400),
        (b'[{"eventType": "plain"},]', 400),
        (b"[" + b"{}," * 60 + b"{}]", 413),
        (b'{"a":' * 17 + b"1" + b"}" * 17, 413),
        (b'{"a": NaN}', 400),
        (gzip.compress(b"{}", mtime=0), 400),
        (b"\xff\xfe", 400),
        (b"", 400),
        (b"null", 400),
        (b"\x00" * 99_000, 400),
        (b"a" * 100_001, 413),
    ],
)
def test_a5_a6_hostile_bodies_are_refused_in_words(events: WebProcess, body: bytes, status: int) -> None:
    answer = post(events, body)
    assert answer.status_code == status
    assert answer.json()["error"]


def test_a6_ten_megabytes_are_refused_before_they_are_read(events: WebProcess) -> None:
    try:
        status = post(events, b"x" * 10_000_000).status_code
    except requests.ConnectionError:
        status = 413  # it did not wait for the rest
    assert status == 413


def opened(web: WebProcess, query: str = "", key: str = KEY) -> Connection:
    """A conversation by WebSocket."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return connect(f"ws://127.0.0.1:{web.port}/events/ws{query}", additional_headers=headers)


def said(socket: Connection, frame: str | bytes) -> Any:
    """Send a frame; return the receipt."""
    socket.send(frame)
    return json.loads(socket.recv(timeout=10))


def test_a1_what_comes_by_websocket_gets_its_receipts_in_order(events: WebProcess, wired: Wired) -> None:
    with opened(events) as socket:
        receipts = [said(socket, json.dumps({"eventType": "once", "n": n})) for n in (20, 20, 21)]
        refused = said(socket, "{")
    kept = wired.gateway.events.get(receipts[0]["id"])
    assert kept is not None
    assert kept.source.value == "websocket"
    assert [receipt["status"] for receipt in receipts] == ["accepted", "duplicate", "accepted"]
    assert refused["status"] == "rejected"


def test_a_websocket_may_say_its_key_first(events: WebProcess) -> None:
    with opened(events, "?type=plain", key="") as socket:
        socket.send(json.dumps({"key": KEY}))
        assert said(socket, "{}")["status"] == "accepted"


@pytest.mark.parametrize("first", ['{"key": "wrong"}', "[]", "not JSON", b"\xff"])
def test_a_websocket_without_a_good_key_is_closed(events: WebProcess, first: str | bytes) -> None:
    with opened(events, key="") as socket, pytest.raises(ConnectionClosed) as closed:
        said(socket, first)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008
