"""Callbacks while the ledger, or all, is away: tried, spilled, or left to the platform to repeat."""

from __future__ import annotations

import copy
import dataclasses
import threading
import time

import pytest

from tests.flow.wecom.calling import AWAY, app, bridge, broken, callbacks_of, counted, take
from tests.support.wecom_app import App
from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable
from wechat_bridge.flow import spill
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.wecom import earlier
from wechat_bridge.flow.wecom.callback import Outcome
from wechat_bridge.model import keys
from wechat_bridge.wiring import Wired

GONE = BrokerUnavailable("away")


__all__ = ["app", "bridge"]


def test_a_ledger_that_is_back_within_seconds_gets_it(bridge: Bridge, app: App, wired: Wired) -> None:
    shaky = broken(bridge, wired, ("inbox", "add", AWAY), times=3)
    with callbacks_of(shaky) as callbacks:
        assert take(callbacks, app, app.text()) is Outcome.STORED
    assert app.texts() == ["hello"]
    assert app.share_id not in bridge.spill.channels()


def test_a_process_that_failed_between_row_and_due_time_makes_it_due_when_it_tries_again(
    bridge: Bridge, app: App, wired: Wired
) -> None:
    shaky = broken(bridge, wired, ("conversations", "arm", AWAY), times=1)
    with callbacks_of(shaky) as callbacks:
        take(callbacks, app, app.text())
    conversation = bridge.conversations.get(keys.chat_id(app.share_id, "ann"))
    assert conversation is not None
    assert conversation.flush_at is not None


def test_while_the_ledger_is_away_it_is_spilled_in_time_and_stored_once_it_is_back(
    bridge: Bridge, app: App, wired: Wired
) -> None:
    before = counted(Outcome.SPILLED)
    with callbacks_of(broken(bridge, wired, ("inbox", "add", AWAY)), keep_seconds=0.6) as callbacks:
        began = time.monotonic()
        assert take(callbacks, app, app.text("one")) is Outcome.SPILLED
        assert 0.2 < time.monotonic() - began < 2
        began = time.monotonic()
        assert take(callbacks, app, app.text("two")) is Outcome.SPILLED
        assert time.monotonic() - began < 0.2, "the second need not find out that the ledger is away"
    assert app.rows() == []
    spill.drain(bridge)
    assert sorted(app.texts()) == ["one", "two"]
    assert counted(Outcome.SPILLED) - before == 2


def test_once_the_ledger_answers_again_it_is_tried_for_long_again(bridge: Bridge, app: App, wired: Wired) -> None:
    shaky = broken(bridge, wired, ("inbox", "add", AWAY), times=3)
    with callbacks_of(shaky, keep_seconds=0.6) as callbacks:
        wanted = [Outcome.SPILLED, Outcome.SPILLED, Outcome.STORED, Outcome.STORED]
        # The first tries twice, the second once: it knows.
        assert [take(callbacks, app, app.text()) for _ in wanted] == wanted


def test_what_neither_can_keep_is_not_taken(bridge: Bridge, app: App, wired: Wired) -> None:
    before = counted(Outcome.DROPPED)
    away = broken(bridge, wired, ("inbox", "add", AWAY), ("spill", "put", GONE))
    with callbacks_of(away, keep_seconds=0.6) as callbacks, pytest.raises(LedgerUnavailable):
        take(callbacks, app, app.text())
    assert counted(Outcome.DROPPED) - before == 1
    assert len(away.unfinished) == 0, "what was not answered is the platform's to repeat"


def test_a_process_that_ends_does_not_wait_for_the_ledger(bridge: Bridge, app: App, wired: Wired) -> None:
    stopping = threading.Event()
    stopping.set()
    away = dataclasses.replace(broken(bridge, wired, ("inbox", "add", AWAY)), stopping=stopping)
    with callbacks_of(away) as callbacks:
        began = time.monotonic()
        assert take(callbacks, app, app.text()) is Outcome.SPILLED
    assert time.monotonic() - began < 2


def test_who_comes_too_late_for_the_ledger_because_many_wait_is_spilled_and_blames_nobody(
    bridge: Bridge, app: App
) -> None:
    with callbacks_of(bridge) as callbacks:
        late = time.monotonic() - 3.9
        assert callbacks.take(app.share_id, *app.post(app.text("late")), late) is Outcome.SPILLED
        assert take(callbacks, app, app.text("in time")) is Outcome.STORED
    spill.drain(bridge)
    assert sorted(app.texts()) == ["in time", "late"]


def received(app: App) -> list[str]:
    """What was stored, in the order in which it was stored."""
    return [row["items"][0]["text"] for row in app.bridge.inbox.collection.find({"share_id": app.share_id})]


def test_what_was_kept_outside_the_ledger_is_stored_before_what_comes_once_it_is_back(
    bridge: Bridge, app: App, wired: Wired
) -> None:
    shaky = broken(bridge, wired, ("inbox", "add", AWAY), times=3)
    with callbacks_of(shaky, keep_seconds=0.6) as callbacks:
        outcomes = [take(callbacks, app, app.text(text)) for text in ("one", "two", "three")]
    assert outcomes == [Outcome.SPILLED, Outcome.SPILLED, Outcome.STORED]
    assert received(app) == ["one", "two", "three"]
    assert bridge.spill.peek(app.share_id) is None


def test_what_another_process_kept_outside_the_ledger_goes_first_too(bridge: Bridge, app: App, wired: Wired) -> None:
    with (
        callbacks_of(broken(bridge, wired, ("inbox", "add", AWAY)), keep_seconds=0.6) as other,
        callbacks_of(broken(bridge, wired, ("inbox", "add", AWAY), times=2), keep_seconds=0.6) as callbacks,
    ):
        assert take(callbacks, app, app.text("one")) is Outcome.SPILLED
        assert take(other, app, app.text("two")) is Outcome.SPILLED
        assert take(callbacks, app, app.text("three")) is Outcome.STORED
        assert take(other, app, app.text("four")) is Outcome.SPILLED
        assert take(callbacks, app, app.text("five")) is Outcome.STORED
    assert received(app) == ["one", "two", "three", "four", "five"]


def test_a_process_that_knows_of_the_outage_by_another_channel_asks_for_what_others_kept(
    bridge: Bridge, app: App, wired: Wired
) -> None:
    elsewhere = App.create(bridge)
    with (
        callbacks_of(broken(bridge, wired, ("inbox", "add", AWAY)), keep_seconds=0.6) as other,
        callbacks_of(broken(bridge, wired, ("inbox", "add", AWAY), times=2), keep_seconds=0.6) as callbacks,
    ):
        assert take(callbacks, elsewhere, elsewhere.text()) is Outcome.SPILLED
        assert take(other, app, app.text("one")) is Outcome.SPILLED
        assert take(callbacks, app, app.text("two")) is Outcome.STORED
    assert received(app) == ["one", "two"]


def test_what_was_flushed_while_the_ledger_was_away_goes_first_too(bridge: Bridge, app: App, wired: Wired) -> None:
    with callbacks_of(broken(bridge, wired, ("inbox", "add", AWAY), times=2), keep_seconds=0.6) as callbacks:
        assert take(callbacks, app, app.text("one")) is Outcome.SPILLED
        wired.redis.flushdb()
        assert take(callbacks, app, app.text("two")) is Outcome.STORED
    assert received(app) == ["one", "two"]


def test_a_broker_that_cannot_say_what_was_kept_is_asked_once_and_delays_no_more_answers(
    bridge: Bridge, app: App, wired: Wired
) -> None:
    shaky = broken(bridge, wired, ("inbox", "add", AWAY), times=2)
    with callbacks_of(broken(shaky, wired, ("spill", "peek", GONE), times=1), keep_seconds=0.6) as callbacks:
        assert take(callbacks, app, app.text("one")) is Outcome.SPILLED
        assert take(callbacks, app, app.text("two")) is Outcome.STORED
        assert take(callbacks, app, app.text("three")) is Outcome.STORED
        assert bridge.spill.peek(app.share_id) is not None, "nobody asked a second time"
    assert received(app) == ["one", "two", "three"]


def test_a_broker_that_hangs_after_an_outage_delays_one_answer_shortly(bridge: Bridge, app: App, wired: Wired) -> None:
    away = broken(bridge, wired, ("inbox", "add", AWAY), times=2)
    is_over = threading.Event()
    hanging = copy.copy(away.spill)
    hanging.peek = lambda *_: is_over.wait(20)  # type: ignore[method-assign, assignment]
    with callbacks_of(dataclasses.replace(away, spill=hanging), keep_seconds=0.6) as callbacks:
        assert take(callbacks, app, app.text("one")) is Outcome.SPILLED
        for text, seconds in (("two", 1.0), ("three", 0.3)):
            began = time.monotonic()
            assert take(callbacks, app, app.text(text)) is Outcome.STORED
            assert time.monotonic() - began < seconds
        is_over.set()
    assert received(app) == ["one", "two", "three"]


def test_what_comes_while_very_much_waits_waits_behind_it(
    bridge: Bridge, app: App, wired: Wired, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(earlier, "MOST_BATCHES", 1)
    with callbacks_of(broken(bridge, wired, ("inbox", "add", AWAY), times=3), keep_seconds=0.6) as callbacks:
        outcomes = [take(callbacks, app, app.text(text)) for text in ("one", "two", "three")]
        assert outcomes == [Outcome.SPILLED] * 3
        assert received(app) == ["one"]
    spill.drain(bridge)
    assert received(app) == ["one", "two", "three"]


def test_what_was_kept_outside_the_ledger_keeps_its_order_when_storing_it_fails_once_more(
    bridge: Bridge, app: App, wired: Wired
) -> None:
    away = broken(bridge, wired, ("inbox", "add", AWAY), times=4)
    with callbacks_of(away, keep_seconds=0.6) as callbacks:
        assert [take(callbacks, app, app.text(text)) for text in ("one", "two")] == [Outcome.SPILLED] * 2
    wired.redis.flushdb()
    for _ in range(3):
        away.unfinished.work_off()
    assert received(app) == ["one", "two"]
    assert len(away.unfinished) == 0


def test_what_a_process_holds_goes_after_what_others_kept_before_it(bridge: Bridge, app: App, wired: Wired) -> None:
    away, other = (broken(bridge, wired, ("inbox", "add", AWAY), times=2) for _ in range(2))
    with callbacks_of(other, keep_seconds=0.6) as first, callbacks_of(away, keep_seconds=0.6) as second:
        assert take(first, app, app.text("one")) is Outcome.SPILLED
        assert take(second, app, app.text("two")) is Outcome.SPILLED
    away.unfinished.work_off()
    assert received(app) == ["one", "two"]
