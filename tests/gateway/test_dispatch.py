"""Handing events over: retries, dead letters, replay, takeover (acceptance C6 and F)."""

from __future__ import annotations

import base64

import pytest

from tests.gateway.desk import PLAIN, Desk, rules_for
from tests.support.sink import Sink
from wechat_bridge.errors import LedgerUnavailable, ReplayRefused
from wechat_bridge.gateway.dead import record_dead_event
from wechat_bridge.gateway.dispatch import dispatch_event
from wechat_bridge.gateway.resubmit import resubmit
from wechat_bridge.gateway.sweep import EventSweeper
from wechat_bridge.model.event import EventState, Receipt, Status
from wechat_bridge.model.outcome import Done, GiveUp, RetryIn
from wechat_bridge.observe import metrics
from wechat_bridge.wiring import Wired


def fail(desk: Desk, receipt: Receipt, *statuses: int) -> None:
    """Let attempts fail, one after the other."""
    for status in statuses:
        desk.sink.statuses.append(status)
        desk.retry_now(receipt.id)
        desk.dispatch(receipt)


def given_up(desk: Desk, *statuses: int, n: int = 1) -> Receipt:
    """An event that was given up, and recorded."""
    receipt = desk.send("once", n=n, text="hello")
    fail(desk, receipt, *statuses)
    assert desk.state(receipt) is EventState.DEAD
    record_dead_event(desk.gateway, receipt.id)
    return receipt


def test_f3_an_event_goes_to_the_first_route_that_fits_once(desk: Desk) -> None:
    receipt = desk.send("plain", text="hello")
    assert desk.dispatch(receipt) == Done()
    assert desk.dispatch(receipt) == Done()
    [body] = desk.sink.got
    assert (body["id"], body["type"], body["attempt"], body["payload"]["text"]) == (receipt.id, "plain", 1, "hello")
    assert desk.state(receipt) is EventState.DONE


def test_f3_an_event_without_a_route_is_a_dead_letter_of_stage_dispatch(wired: Wired, sink: Sink) -> None:
    desk = Desk(wired, sink, rules_for(sink, {"plain": PLAIN}).model_copy(update={"routes": ()}))
    receipt = desk.send("plain")
    assert isinstance(desk.dispatch(receipt), GiveUp)
    record_dead_event(desk.gateway, receipt.id)
    letter = desk.gateway.dead_letters.get(receipt.id)
    assert letter is not None
    assert letter.stage == "dispatch"
    assert "no route" in letter.error


def test_f4_a_failure_that_passes_is_tried_again_later_and_later_and_delivered_once(desk: Desk) -> None:
    receipt = desk.send("plain", text="hello")
    for expected in (RetryIn, RetryIn):
        desk.sink.statuses.append(503)
        assert isinstance(desk.dispatch(receipt), expected)
        assert isinstance(desk.dispatch(receipt), Done)
        desk.retry_now(receipt.id)
    desk.dispatch(receipt)
    [body] = desk.sink.got
    assert body["attempt"] == 3


def test_f5_a_letter_has_the_message_as_it_came_and_as_it_was_understood(desk: Desk) -> None:
    counter = metrics.dead_letters_total.labels("dispatch")
    before = counter._value.get()
    receipt = given_up(desk, 503, 503, 503, 503)
    letter = desk.gateway.dead_letters.get(receipt.id)
    assert letter is not None
    event = desk.event(receipt.id)
    assert base64.b64decode(letter.original[0]["raw"]) == event.raw_payload
    assert letter.original[0]["parsed"] == event.payload
    assert (letter.attempts, letter.event_type, letter.trace_id) == (4, "once", receipt.trace_id)
    assert letter.traceback.startswith("Traceback")
    assert letter.last_failure_at.tzinfo is not None
    assert counter._value.get() == before + 1


def test_f6_what_can_never_succeed_is_given_up_at_once_and_its_lane_is_free(desk: Desk) -> None:
    desk.send("chat", text="poison")
    desk.make_due()
    batch_id = desk.flush()
    desk.sink.statuses.append(422)
    assert isinstance(dispatch_event(desk.gateway, batch_id), GiveUp)
    record_dead_event(desk.gateway, batch_id)
    desk.send("chat", text="next")
    desk.make_due()
    dispatch_event(desk.gateway, desk.flush())
    assert [payload["text"] for payload in desk.sink.payloads] == ["next"]


def test_c6_what_nobody_got_is_taken_again_when_it_is_sent_again(desk: Desk) -> None:
    given_up(desk, 503, 503, 503, 503)
    again = desk.send("once", n=1, text="hello")
    assert again.status is Status.ACCEPTED
    desk.dispatch(again)
    assert len(desk.sink.got) == 1


def test_c6_what_somebody_may_have_got_is_not_taken_again(desk: Desk) -> None:
    given_up(desk, 0, 503, 503, 503)
    assert desk.send("once", n=1).status is Status.DUPLICATE


def test_f7_a_letter_is_resubmitted_once_with_attempts_from_the_start(desk: Desk) -> None:
    receipt = given_up(desk, 422)
    resubmit(desk.gateway, receipt.id, "a test")
    with pytest.raises(ReplayRefused, match="open"):
        resubmit(desk.gateway, receipt.id, "a test")
    desk.dispatch(receipt)
    [body] = desk.sink.got
    assert body["attempt"] == 1
    with pytest.raises(ReplayRefused, match="completed"):
        resubmit(desk.gateway, receipt.id, "a test")
    letter = desk.gateway.dead_letters.get(receipt.id)
    assert letter is not None
    assert letter.replayed_by == "a test"


def test_f7_what_was_sent_again_and_taken_meanwhile_is_not_resubmitted(desk: Desk) -> None:
    receipt = given_up(desk, 422)
    desk.dispatch(desk.send("once", n=1, text="hello"))
    with pytest.raises(ReplayRefused, match="came again"):
        resubmit(desk.gateway, receipt.id, "a test")
    assert len(desk.sink.got) == 1


def test_f8_a_letter_that_cannot_be_kept_is_looked_at_again(desk: Desk) -> None:
    receipt = desk.send("plain")
    fail(desk, receipt, 422)
    record_dead_event(desk.using(keep_letter=lambda _: False).gateway, receipt.id)
    assert desk.event(receipt.id).ring_at is not None
    record_dead_event(desk.gateway, receipt.id)
    assert desk.gateway.dead_letters.get(receipt.id) is not None
    assert desk.event(receipt.id).ring_at is None


def test_f10_work_that_a_process_hands_back_counts_no_attempt(desk: Desk) -> None:
    receipt = desk.send("plain")
    gateway = desk.gateway
    gateway.events.claim(receipt.id, "ending", gateway.clock.now(), gateway.clock.after(60), "claim")
    assert gateway.events.hand_back("ending", gateway.clock.now()) == 1
    desk.dispatch(receipt)
    assert desk.sink.got[0]["attempt"] == 1


def test_f11_an_event_of_a_dead_process_is_taken_over_and_delivered_once(desk: Desk) -> None:
    receipt = desk.send("plain", text="hello")
    gateway = desk.gateway
    gateway.events.claim(receipt.id, "dead", gateway.clock.now(), gateway.clock.after(-1), "claim")
    EventSweeper().sweep(gateway)
    assert desk.state(receipt) is EventState.QUEUED
    desk.dispatch(receipt)
    assert len(desk.sink.got) == 1
    assert desk.event(receipt.id).attempts == 2


def test_f11_an_event_that_kills_its_process_each_time_is_given_up(desk: Desk) -> None:
    receipt = desk.send("plain")
    gateway = desk.gateway
    for _ in range(4):
        gateway.events.claim(receipt.id, "dead", gateway.clock.now(), gateway.clock.after(-1), "claim")
        EventSweeper().sweep(gateway)
    event = desk.event(receipt.id)
    assert (event.state, event.attempts) == (EventState.DEAD, 4)
    record_dead_event(gateway, receipt.id)
    assert gateway.dead_letters.get(receipt.id) is not None


def test_an_event_whose_doorbell_was_lost_is_rung_again(desk: Desk) -> None:
    receipt = desk.send("plain")
    desk.wired.redis.flushdb()
    now = desk.gateway.clock.now()
    desk.gateway.events.collection.update_one({"_id": receipt.id}, {"$set": {"ring_at": now}})
    for _ in range(2):
        EventSweeper().sweep(desk.gateway)
    assert desk.doorbells(receipt.id) == 1


def test_an_end_that_the_ledger_refused_is_written_later_and_not_done_again(desk: Desk) -> None:
    real, calls = desk.gateway.events.finish, []

    def refusing(*args: object, **named: object) -> object:
        calls.append(args)
        if len(calls) == 1:
            raise LedgerUnavailable("away")
        return real(*args, **named)  # type: ignore[arg-type]

    receipt = desk.send("plain")
    failing = desk.with_part("events", "finish", refusing)
    with pytest.raises(LedgerUnavailable):
        failing.dispatch(receipt)
    desk.wired.bridge.unfinished.work_off()
    assert desk.state(receipt) is EventState.DONE
    assert len(desk.sink.got) == 1


def test_a_dead_batch_lets_each_of_its_events_come_again(wired: Wired, sink: Sink) -> None:
    kind = PLAIN | {"debounce": {"wait_ms": 60_000}, "dedupe": {"by": "key", "key": "dedup:c:{userId}:{n}"}}
    desk = Desk(wired, sink, rules_for(sink, {"chat": kind}))
    for n in (1, 2):
        desk.send("chat", n=n, text=str(n))
    desk.make_due()
    batch_id = desk.flush()
    sink.statuses.append(422)
    dispatch_event(desk.gateway, batch_id)
    record_dead_event(desk.gateway, batch_id)
    letter = desk.gateway.dead_letters.get(batch_id)
    assert letter is not None
    assert [each["parsed"]["n"] for each in letter.original] == [1, 2]
    assert [desk.send("chat", n=n).status for n in (1, 2)] == [Status.ACCEPTED, Status.ACCEPTED]
