"""Events of one key wait for each other and go on as one (acceptance E)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from tests.gateway.desk import PLAIN, Desk, rules_for
from tests.support.sink import Sink
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow.hand_back import hand_back
from wechat_bridge.gateway.dispatch import dispatch_event
from wechat_bridge.gateway.sweep import EventSweeper, flush_old_windows
from wechat_bridge.model.event import EventState
from wechat_bridge.observe import metrics
from wechat_bridge.store.event_windows import EventWindowStore
from wechat_bridge.wiring import Wired


def go_on(desk: Desk) -> None:
    """Let the window be due, and hand over what came of it."""
    desk.make_due()
    batch_id = desk.flush()
    assert batch_id
    hand_over(desk, batch_id)


def hand_over(desk: Desk, batch_id: str) -> None:
    """Hand a batch over."""
    dispatch_event(desk.gateway, batch_id)


def due_in(desk: Desk) -> float:
    """In how many seconds what waits goes on."""
    window = desk.gateway.windows.get(desk.waiting_key)
    assert window is not None
    assert window.flush_at is not None
    return (window.flush_at - desk.gateway.clock.now()).total_seconds()


def test_e1_each_event_moves_the_end_of_the_window(wired: Wired, sink: Sink) -> None:
    desk = Desk(wired, sink, rules_for(sink, {"chat": PLAIN | {"debounce": {"wait_ms": 400}}}))
    first = desk.gateway.clock.now()
    for _ in range(3):
        desk.send("chat", text="more")
        last = desk.gateway.clock.now()
        desk.gateway.stopping.wait(0.16)
    window = desk.gateway.windows.get(desk.waiting_key)
    assert window is not None
    assert window.flush_at is not None
    assert abs((window.flush_at - last).total_seconds() - 0.4) < 0.05
    assert (window.flush_at - first).total_seconds() > 0.6
    assert desk.flush() == ""
    assert sink.got == []


def test_e2_merged_texts_are_joined_mentions_united_media_joined_and_all_sources_named(desk: Desk) -> None:
    desk.send("chat", messageId="1", text="one", mentions=["a", "b"])
    desk.send("chat", messageId="2", text="two", mentions=["b", "c"], forward={"from": "x"})
    desk.send("chat", messageId="3", text="three")
    go_on(desk)
    [payload] = desk.sink.payloads
    assert payload["text"] == "one\ntwo\nthree"
    assert payload["mentions"] == ["a", "b", "c"]
    assert payload["messageId"] == "3"
    assert payload["sourceIds"] == ["1", "2", "3"]
    assert payload["items"] == [{"id": "2", "text": "two", "forward": {"from": "x"}}]


def test_e2_in_mode_replace_only_the_last_goes_on(desk: Desk) -> None:
    for text in ("one", "two", "three"):
        desk.send("last", text=text)
    go_on(desk)
    assert [payload["text"] for payload in desk.sink.payloads] == ["three"]


def test_e3_one_alone_goes_on_unchanged_and_nothing_is_left_of_its_window(desk: Desk) -> None:
    receipt = desk.send("chat", text="alone")
    go_on(desk)
    assert desk.sink.payloads == [{"eventType": "chat", "userId": desk.user, "text": "alone"}]
    assert desk.gateway.windows.get(desk.waiting_key) is None
    assert desk.state(receipt) is EventState.MERGED


def test_e4_enough_events_end_the_window_and_the_rest_begins_anew_in_order(desk: Desk) -> None:
    for text in ("1", "2", "3", "4", "5"):
        desk.send("few", text=text)
    for _ in range(3):
        go_on(desk)
    assert [payload["text"] for payload in desk.sink.payloads] == ["1\n2", "3\n4", "5"]


def test_e4_a_window_ends_at_its_deadline_whatever_comes(wired: Wired, sink: Sink) -> None:
    rules = rules_for(sink, {"chat": PLAIN | {"debounce": {"wait_ms": 1000, "most_windows": 2}}})
    desk = Desk(wired, sink, rules)
    desk.send("chat", text="first")
    window = desk.gateway.windows.get(desk.waiting_key)
    assert window is not None
    assert window.flush_deadline is not None
    desk.gateway.windows.collection.update_one(
        {"_id": desk.waiting_key}, {"$set": {"flush_deadline": window.flush_deadline - timedelta(seconds=1.5)}}
    )
    desk.send("chat", text="second")
    assert due_in(desk) < 0.6


def test_e4_more_than_is_read_at_once_goes_on_without_waiting_for_the_sweep(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wechat_bridge.gateway.windows.MOST_READ", 2)
    for text in ("1", "2", "3"):
        desk.send("chat", text=text)
    for _ in range(2):
        go_on(desk)
    assert [payload["text"] for payload in desk.sink.payloads] == ["1\n2", "3"]


def test_e5_other_people_are_never_merged(desk: Desk) -> None:
    desk.send("chat", text="mine")
    desk.send_many({"eventType": "chat", "userId": f"{desk.user}-other", "text": "theirs"})
    go_on(desk)
    assert [payload["text"] for payload in desk.sink.payloads] == ["mine"]


@pytest.mark.parametrize(
    "urgent",
    [{"media": ["picture"]}, {"location": {"x": 1}}, {"quote": {"id": "1"}}, {"text": "/help"}, {"text": " Stop "}],
)
def test_e6_what_waits_for_nobody_goes_after_what_waits_and_at_once(desk: Desk, urgent: dict[str, object]) -> None:
    desk.send("chat", text="before")
    desk.send("chat", **urgent)
    assert due_in(desk) <= 0
    for _ in range(2):
        batch_id = desk.flush()
        hand_over(desk, batch_id)
    first, second = desk.sink.payloads
    assert first["text"] == "before"
    assert second == {"eventType": "chat", "userId": desk.user, **urgent}


def test_e7_what_comes_while_a_flush_is_under_way_waits_behind_it(desk: Desk) -> None:
    desk.send("chat", text="first")
    desk.make_due()
    batch_id = desk.flush()
    desk.send("chat", text="second")
    desk.make_due()
    assert desk.flush() == batch_id
    other = Desk(desk.wired, desk.sink, desk.gateway.rules())
    other.send("chat", text="other")
    go_on(other)
    hand_over(desk, batch_id)
    go_on(desk)
    assert [payload["text"] for payload in desk.sink.payloads] == ["other", "first", "second"]


def test_e8_a_type_that_says_nothing_waits_as_long_as_all_do_and_0_does_not_wait(wired: Wired, sink: Sink) -> None:
    types = {"all": PLAIN | {"debounce": {}}, "own": PLAIN | {"debounce": {"wait_ms": 300}}, "none": PLAIN}
    rules = rules_for(sink, types)
    assert (rules.wait_seconds("all"), rules.wait_seconds("own"), rules.wait_seconds("none")) == (1.0, 0.3, 0.0)
    desk = Desk(wired, sink, rules)
    assert desk.state(desk.send("none")) is EventState.QUEUED
    assert desk.state(desk.send("all")) is EventState.WAITING


def test_e9_a_stop_word_cancels_what_waits_before_it_and_nothing_of_others(desk: Desk) -> None:
    other = Desk(desk.wired, desk.sink, desk.gateway.rules())
    left = other.send("cancel", text="other thread")
    cancelled = desk.send("cancel", text="a question")
    desk.send("cancel", text="stop")
    hand_over(desk, desk.flush())
    assert [payload["text"] for payload in desk.sink.payloads] == ["stop"]
    assert desk.state(cancelled) is EventState.SKIPPED
    assert desk.state(left) is EventState.WAITING


def test_e10_a_window_whose_doorbell_and_process_are_gone_goes_on_once(desk: Desk) -> None:
    desk.send("chat", text="kept")
    desk.wired.redis.flushdb()
    desk.make_due()
    for _ in range(2):
        EventSweeper().sweep(desk.gateway)
    assert desk.doorbells(desk.waiting_key) == 1
    go_on(desk)
    assert desk.flush() == ""
    assert len(desk.sink.got) == 1


def test_e10_an_event_whose_process_died_before_it_armed_the_window_goes_on(desk: Desk) -> None:
    def away(*_: object, **__: object) -> float:
        raise LedgerUnavailable("away")

    receipt = desk.with_part("windows", "arm", away).send("chat", text="kept")
    assert desk.gateway.windows.get(desk.waiting_key) is None
    now = desk.gateway.clock.now()
    desk.gateway.events.collection.update_one({"_id": receipt.id}, {"$set": {"ring_at": now}})
    EventSweeper().sweep(desk.gateway)
    go_on(desk)
    assert desk.sink.payloads[0]["text"] == "kept"


def test_e10_a_batch_whose_process_died_takes_its_events_once(desk: Desk) -> None:
    desk.send("chat", text="one")
    desk.make_due()
    batch_id = desk.flush()
    desk.send("chat", text="two")
    hand_over(desk, batch_id)
    hand_over(desk, batch_id)
    go_on(desk)
    assert [payload["text"] for payload in desk.sink.payloads] == ["one", "two"]


def test_e11_a_doorbell_of_an_earlier_window_does_nothing(desk: Desk) -> None:
    desk.send("chat", text="first")
    go_on(desk)
    assert desk.flush() == ""
    desk.send("chat", text="second")
    assert desk.flush() == ""
    assert len(desk.sink.got) == 1


def test_e12_a_window_that_is_too_old_goes_on_with_a_warning_and_once(desk: Desk) -> None:
    desk.send("chat", text="old")
    long_ago = desk.gateway.clock.after(-400)
    desk.gateway.windows.collection.update_one({"_id": desk.waiting_key}, {"$set": {"opened_at": long_ago}})
    before = metrics.windows_forced_total._value.get()
    with capture_logs() as records:
        flush_old_windows(desk.gateway)
    assert [record["window"] for record in records if record["event"] == "window_forced"] == [desk.waiting_key]
    assert metrics.windows_forced_total._value.get() == before + 1
    hand_over(desk, desk.flush())
    assert desk.flush() == ""
    assert len(desk.sink.got) == 1


def test_e13_beyond_the_most_windows_events_of_new_keys_do_not_wait(wired: Wired, sink: Sink) -> None:
    types = {"chat": PLAIN | {"debounce": {"wait_ms": 60_000}}}
    wired.gateway.windows.collection.delete_many({})
    desk = Desk(wired, sink, rules_for(sink, types, most_windows_open=1))
    desk.send("chat", text="waits")
    counts_anew = EventWindowStore(wired.gateway.windows.collection.database)
    late = Desk(wired, sink, desk.gateway.rules()).using(windows=counts_anew)
    receipt = late.send("chat", text="goes on")
    late.dispatch(receipt)
    assert [payload["text"] for payload in sink.payloads] == ["goes on"]
    assert desk.state(desk.send("chat", text="waits, too")) is EventState.WAITING


def test_e14_three_that_go_on_as_one_count_as_two_less(desk: Desk) -> None:
    before = metrics.debounced_total._value.get()
    for text in ("1", "2", "3"):
        desk.send("chat", text=text)
    go_on(desk)
    assert metrics.debounced_total._value.get() == before + 2


def test_e15_of_many_in_a_period_the_newest_goes_on(desk: Desk) -> None:
    desk.send("sensor", value=0)
    end = due_in(desk)
    for value in range(1, 30):
        desk.send("sensor", value=value)
    assert due_in(desk) <= end
    go_on(desk)
    assert [payload["value"] for payload in desk.sink.payloads] == [29]


def test_e16_windows_of_a_process_that_ends_in_good_order_go_on_by_another_one(desk: Desk) -> None:
    ending = desk.as_process("ending")
    ending.send("chat", text="kept")
    hand_back("events", ending.gateway.events, "ending", ending.gateway.clock)
    desk.make_due()
    batch_id = desk.flush()
    claimed = desk.gateway.events.claim(batch_id, "ending", desk.gateway.clock.now(), desk.gateway.clock.after(60), "c")
    assert claimed is not None
    hand_back("events", ending.gateway.events, "ending", ending.gateway.clock)
    hand_over(desk, batch_id)
    assert [payload["text"] for payload in desk.sink.payloads] == ["kept"]
    assert desk.event(batch_id).attempts == 1


def test_e17_a_duplicate_does_not_move_the_window(wired: Wired, sink: Sink) -> None:
    kind = PLAIN | {"debounce": {"wait_ms": 60_000}, "dedupe": {"by": "key", "key": "dedup:chat:{userId}:{n}"}}
    desk = Desk(wired, sink, rules_for(sink, {"chat": kind}))
    desk.send("chat", n=1, text="once")
    before = desk.gateway.windows.get(desk.waiting_key)
    desk.send("chat", n=1, text="once")
    assert desk.gateway.windows.get(desk.waiting_key) == before
    go_on(desk)
    assert desk.sink.payloads[0]["text"] == "once"


def test_d4_events_go_on_when_their_window_cannot_be_armed(desk: Desk) -> None:
    def away(*_: object, **__: object) -> float:
        raise LedgerUnavailable("away")

    receipt = desk.with_part("windows", "arm", away).send("chat", text="kept")
    assert receipt.http_status == 202
    assert desk.state(receipt) is EventState.WAITING
