"""Taking events: one receipt each, nothing twice, nothing lost (acceptance A to G, as far as taking them goes)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from tests.gateway.desk import PLAIN, Desk, rules_for
from tests.support.sink import Sink
from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable
from wechat_bridge.gateway.incoming import Incoming
from wechat_bridge.gateway.ingest import ingest
from wechat_bridge.gateway.keep import drain
from wechat_bridge.model.event import EventSource, EventState, Status
from wechat_bridge.observe import metrics
from wechat_bridge.store.event_spill import EventSpill
from wechat_bridge.wiring import Wired

BODY = b'{"eventType": "plain", "userId": "u", "text": "\xe4\xbd\xa0"}'


def away(*_: object, **__: object) -> object:
    """What a store does that cannot be used."""
    raise LedgerUnavailable("away")


def full(*_: object, **__: object) -> object:
    """What Redis does that cannot be used."""
    raise BrokerUnavailable("away")


def test_a1_an_envelope_keeps_the_bytes_and_has_a_fresh_id_the_time_and_the_headers(desk: Desk) -> None:
    before = desk.gateway.clock.now()
    first, second = (desk.bring(BODY, **{"X-Shop": "7", "Authorization": "Bearer secret"})[0] for _ in range(2))
    event = desk.event(first.id)
    assert first.id != second.id
    assert (event.raw_payload, event.attempts, event.source.value) == (BODY, 0, "http")
    assert event.headers == {"x-shop": "7"}
    assert before - timedelta(seconds=1) < event.received_at <= desk.gateway.clock.now() + timedelta(seconds=1)


def test_b5_what_is_taken_has_its_typed_payload_when_it_was_validated_and_its_raw_one(desk: Desk) -> None:
    event = desk.event(desk.bring(BODY)[0].id)
    assert event.payload == {"eventType": "plain", "userId": "u", "text": "你"}
    assert event.validated_at == event.received_at
    assert event.raw_payload == BODY


@pytest.mark.parametrize(
    ("body", "content_type", "status", "stage"),
    [
        (b"{", "application/json", 400, "parse"),
        (b"<a/>", "text/html", 415, "parse"),
        (b'{"eventType": "nobody.knows"}', "application/json", 400, "validate"),
        (b"{}", "application/json", 400, "validate"),
    ],
)
def test_a4_a5_b1_f2_what_is_refused_leaves_no_key_and_does_not_touch_the_next(
    desk: Desk, body: bytes, content_type: str, status: int, stage: str
) -> None:
    failures = metrics.validation_failures_total.labels(stage)
    before, keys = failures._value.get(), set(desk.wired.redis.keys("dedup:*"))
    refused, taken = desk.bring(body, content_type=content_type)[0], desk.bring(BODY)[0]
    assert (refused.status, refused.http_status, refused.stage) == (Status.REJECTED, status, stage)
    assert refused.error
    assert failures._value.get() == before + 1
    assert set(desk.wired.redis.keys("dedup:*")) == keys
    assert desk.gateway.events.get(refused.id) is None
    assert taken.status is Status.ACCEPTED


def test_b1_the_answer_names_the_type_that_nobody_knows(desk: Desk) -> None:
    refused = desk.send("nobody.knows")
    assert refused.error == "Unsupported event type"
    assert "nobody.knows" in refused.errors[0].message


def test_an_event_that_says_another_type_than_its_address_is_refused(desk: Desk) -> None:
    refused = ingest(desk.gateway, Incoming(EventSource.HTTP, "application/json", BODY, {}, "once"))
    assert refused.http_status == 400
    assert refused.errors[0].path == "eventType"


def test_c5_a_repeat_is_answered_with_success_said_counted_and_not_done_again(desk: Desk) -> None:
    counter = metrics.deduplicated_total.labels("once")
    first, before = desk.send("once", n=1), counter._value.get()
    with capture_logs() as records:
        repeat = desk.send("once", n=1)
    assert (first.status, repeat.status, repeat.http_status) == (Status.ACCEPTED, Status.DUPLICATE, 200)
    assert repeat.known_as == first.id
    [said] = [record for record in records if record.get("action") == "skipped"]
    assert said["stage"] == "deduplication"
    assert said["dedupKey"] == f"dedup:once:{desk.user}:1"
    assert counter._value.get() == before + 1
    assert desk.gateway.events.get(repeat.id) is None


def test_f1_after_a_repeat_no_later_stage_runs_and_the_log_names_the_stage(desk: Desk) -> None:
    desk.send("once", n=1)
    with capture_logs() as records:
        desk.send("once", n=1)
    said = [(record["stage"], record["action"]) for record in records if record["event"] == "event"]
    assert said == [("received", "ok"), ("parse", "ok"), ("validate", "ok"), ("deduplication", "skipped")]


def test_c3_of_fifty_who_bring_one_event_one_proceeds(desk: Desk) -> None:
    gate = threading.Barrier(50)
    found: list[Status] = []

    def bring() -> None:
        gate.wait()
        found.append(desk.send("once", n="race").status)

    threads = [threading.Thread(target=bring) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [Status.ACCEPTED, *[Status.DUPLICATE] * 49]


def test_c3_without_redis_the_ledger_lets_one_proceed(desk: Desk) -> None:
    desk.send("once", n=5)
    desk.wired.redis.flushdb()
    assert desk.send("once", n=5).status is Status.DUPLICATE


def test_c4_after_its_lifetime_an_event_is_taken_again(desk: Desk) -> None:
    first = desk.send("once", n=1)
    key = f"dedup:once:{desk.user}:1"
    assert abs(int(desk.wired.redis.pttl(key)) - 86_400_000) < 1000
    desk.wired.redis.delete(key)
    over = {"$set": {"dedup_until": desk.gateway.clock.after(-1)}}
    desk.gateway.events.collection.update_one({"_id": first.id}, over)
    again = desk.send("once", n=1)
    assert again.status is Status.ACCEPTED
    assert desk.send("once", n=1).status is Status.DUPLICATE


def test_c6_c7_a_claim_whose_worker_died_before_storing_holds_nobody_up(desk: Desk) -> None:
    desk.wired.redis.set(f"dedup:once:{desk.user}:1", "claim:of-the-dead", px=30_000)
    taken, repeat = desk.send("once", n=1), desk.send("once", n=1)
    assert (taken.status, repeat.status) == (Status.ACCEPTED, Status.DUPLICATE)


def test_c7_when_the_first_could_not_be_kept_the_second_has_its_way(desk: Desk) -> None:
    failing = desk.with_part("events", "add", away).with_part("spill", "put", full)
    failing = failing.using(keep_seconds=0.0)
    assert failing.send("once", n=1).http_status == 503
    assert desk.send("once", n=1).status is Status.ACCEPTED


def test_c9_an_older_version_is_ignored_where_the_rule_says_so_and_said(wired: Wired, sink: Sink) -> None:
    rule = {"by": "key", "key": "dedup:v:{userId}:{v}", "version_field": "v", "subject": "{userId}", "stale": "ignore"}
    desk = Desk(wired, sink, rules_for(sink, {"doc": PLAIN | {"dedupe": rule}}))
    newer, older, same = (desk.send("doc", v=version) for version in (2, 1, 2))
    assert (newer.status, older.status, same.status) == (Status.ACCEPTED, Status.SKIPPED, Status.DUPLICATE)
    assert desk.state(older) is EventState.SKIPPED


def test_c2_a_fingerprint_does_not_see_whether_the_type_stands_in_the_payload(wired: Wired, sink: Sink) -> None:
    desk = Desk(wired, sink, rules_for(sink, {"seen": PLAIN | {"dedupe": {"by": "fingerprint"}}}))
    inside = desk.send("seen", n=1)
    body = b'{"userId": "%s", "n": 1}' % desk.user.encode()
    beside = ingest(desk.gateway, Incoming(EventSource.HTTP, "application/json", body, {}, "seen"))
    assert (inside.status, beside.status) == (Status.ACCEPTED, Status.DUPLICATE)


def test_c12_two_events_with_the_same_text_are_two(desk: Desk) -> None:
    assert [desk.send(text="ok").status for _ in range(2)] == [Status.ACCEPTED, Status.ACCEPTED]


def test_c13_a_batch_has_a_receipt_for_each_in_order(desk: Desk) -> None:
    mine = {"eventType": "once", "userId": desk.user}
    desk.send("once", n=1)
    receipts = desk.send_many(mine | {"n": 1}, mine | {"n": 2}, {"eventType": "?"}, mine | {"n": 2}, mine | {"n": 3})
    assert [receipt.status for receipt in receipts] == [
        Status.DUPLICATE, Status.ACCEPTED, Status.REJECTED, Status.DUPLICATE, Status.ACCEPTED,
    ]  # fmt: skip


def test_an_event_that_the_ledger_cannot_store_waits_in_redis_and_goes_on_once(desk: Desk) -> None:
    failing = desk.with_part("events", "add", away).using(keep_seconds=0.0)
    receipt = failing.send("once", n=1, text="kept")
    assert receipt.http_status == 202
    assert desk.gateway.events.get(receipt.id) is None
    for _ in range(2):
        drain(desk.gateway)
    desk.dispatch(receipt)
    assert [payload["text"] for payload in desk.sink.payloads] == ["kept"]
    assert desk.send("once", n=1).status is Status.DUPLICATE


def test_what_nothing_keeps_is_to_be_sent_again(desk: Desk) -> None:
    failing = desk.with_part("events", "add", away).using(keep_seconds=0.0, spill=EventSpill(desk.wired.redis, 0))
    receipt = failing.send("plain")
    assert (receipt.status, receipt.http_status) == (Status.UNAVAILABLE, 503)


@pytest.mark.parametrize("answer", [True, False])
def test_a_ledger_whose_answer_was_lost_has_the_event_once(desk: Desk, answer: bool) -> None:
    real, calls = desk.gateway.events.add, []

    def lossy(*args: object) -> object:
        calls.append(args)
        found = real(*args) if answer or len(calls) > 1 else None  # type: ignore[arg-type]
        if len(calls) == 1:
            raise LedgerUnavailable("the answer was lost")
        return found

    add: Callable[..., object] = lossy
    receipt = desk.with_part("events", "add", add).send("once", n=1)
    assert receipt.status is Status.ACCEPTED
    assert desk.state(receipt) is EventState.QUEUED
    assert desk.send("once", n=1).status is Status.DUPLICATE


def test_g1_each_stage_says_what_it_did_with_the_same_trace(desk: Desk) -> None:
    with capture_logs() as records:
        receipt = desk.send("once", n=1)
        desk.dispatch(receipt)
    said = [record for record in records if record["event"] == "event"]
    assert [(record["stage"], record["action"]) for record in said] == [
        ("received", "ok"), ("parse", "ok"), ("validate", "ok"), ("store", "accepted"), ("dispatch", "ok"),
    ]  # fmt: skip
    assert {record["trace_id"] for record in said} == {receipt.trace_id}
    assert {record["messageId"] for record in said} == {receipt.id}
    assert all("processingTimeMs" in record for record in said if record["stage"] in ("parse", "validate", "dispatch"))


def test_g2_a_trace_that_began_elsewhere_is_continued(desk: Desk) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    [continued] = desk.bring(BODY, traceparent=f"00-{trace}-00f067aa0ba902b7-01")
    [fresh] = desk.bring(BODY, traceparent=f"00-{'0' * 32}-00f067aa0ba902b7-01")
    assert continued.trace_id == trace
    assert len(fresh.trace_id) == 32
    assert fresh.trace_id != "0" * 32


def test_g3_types_that_nobody_knows_are_counted_as_one(desk: Desk) -> None:
    counter = metrics.messages_received_total.labels("http", "unknown")
    before = counter._value.get()
    for name in ("a", "b", "c"):
        desk.send(name)
    assert counter._value.get() == before + 3
