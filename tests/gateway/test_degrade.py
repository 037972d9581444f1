"""Redis is left alone while it does not answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from prometheus_client import REGISTRY

from tests.gateway.guarded import RULE, Stage, unguarded
from tests.support.together import together
from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.gateway.degrade import AWAY, FAILING, SUBJECT
from wechat_bridge.model.event_rules import DegradeRule
from wechat_bridge.observe import alerts


@pytest.fixture
def stage() -> Iterator[Stage]:
    yield Stage()
    for cause in (AWAY, FAILING):
        alerts.clear(cause, SUBJECT)


def gauge() -> float | None:
    return REGISTRY.get_sample_value("wechat_bridge_gateway_breaker_open")


def test_d2_failures_in_a_row_make_later_events_skip_redis(stage: Stage) -> None:
    stage.redis.is_away = True
    assert stage.events(4) == 0
    assert (stage.guard.is_open, gauge()) == (False, 0)
    stage.event()
    assert (stage.guard.is_open, gauge()) == (True, 1)
    assert stage.events(1_000) == 0
    assert stage.redis.calls == 5


def test_d2_a_success_in_between_begins_the_count_anew(stage: Stage) -> None:
    for _ in range(20):
        stage.redis.is_away = True
        stage.events(4)
        stage.redis.is_away = False
        stage.event()
    assert not stage.guard.is_open


def test_d2_skipping_takes_no_time(stage: Stage) -> None:
    stage.open()
    started = time.perf_counter()
    stage.events(1_000)
    assert (time.perf_counter() - started) / 1_000 < 0.001


def test_d2_after_the_pause_one_probe_that_succeeds_closes_it(stage: Stage) -> None:
    stage.open()
    stage.redis.is_away = False
    stage.now += 9.9
    assert not stage.event()
    stage.now += 0.2
    assert stage.event()
    assert (stage.guard.is_open, gauge()) == (False, 0)
    assert stage.events(10) == 10


def test_d2_a_probe_that_fails_begins_the_pause_anew(stage: Stage) -> None:
    stage.open()
    stage.now += 10.1
    assert not stage.event()
    assert stage.redis.calls == 6
    stage.now += 9.9
    assert stage.events(100) == 0
    assert stage.redis.calls == 6
    stage.now += 0.2
    stage.event()
    assert stage.redis.calls == 7


def test_d2_of_fifty_threads_one_probes_and_the_others_do_not_wait_for_it(stage: Stage) -> None:
    stage.open()
    stage.now += 11
    answered, calls, skipped = threading.Event(), list[int](), threading.Semaphore(0)

    def slow() -> str:
        calls.append(threading.get_ident())
        for _ in range(49):
            assert skipped.acquire(timeout=10), "somebody waits for the probe"
        answered.set()
        return "answer"

    def event(_: int) -> bool:
        try:
            return stage.guard.call(slow) == "answer"
        except BrokerUnavailable:
            assert not answered.is_set()
            skipped.release()
            return False

    found = together(50, event)
    assert len(calls) == 1
    assert found.count(True) == 1
    assert not stage.guard.is_open


def test_d2_a_probe_that_ends_for_another_reason_leaves_the_next_one_its_turn(stage: Stage) -> None:
    def broken() -> str:
        raise ZeroDivisionError

    stage.open()
    stage.redis.is_away = False
    stage.now += 11
    with pytest.raises(ZeroDivisionError):
        stage.guard.call(broken)
    assert stage.guard.is_open
    assert stage.event()
    assert not stage.guard.is_open


def test_d2_calls_that_began_before_it_opened_change_nothing(stage: Stage) -> None:
    def late_answer() -> str:
        stage.open()
        return "answer"

    def late_failure() -> str:
        stage.open()
        stage.redis.is_away = False
        stage.now += 11
        assert stage.event()
        raise BrokerUnavailable("Redis: TimeoutError")

    assert stage.guard.call(late_answer) == "answer"
    assert stage.guard.is_open
    stage.redis.is_away = False
    stage.now += 11
    stage.event()
    stage.rule = RULE.model_copy(update={"failures": 1})
    with pytest.raises(BrokerUnavailable):
        stage.guard.call(late_failure)
    assert not stage.guard.is_open


def test_g5_a_changed_rule_counts_for_the_next_event(stage: Stage) -> None:
    assert stage.guard.timeout_seconds == 0.2
    stage.rule = DegradeRule(failures=1, timeout_ms=50)
    assert stage.guard.timeout_seconds == 0.05
    stage.redis.is_away = True
    stage.event()
    assert stage.guard.is_open


def test_fifty_threads_in_any_order_leave_it_in_order(stage: Stage) -> None:
    def storm(number: int) -> None:
        for turn in range(100):
            stage.redis.is_away = (number + turn) % 3 > 0
            stage.event()
            stage.now += 0.1

    before = unguarded("passed")
    together(50, storm)
    stage.redis.is_away = False
    stage.now += 11
    assert stage.events(3) >= 2
    assert not stage.guard.is_open
    assert unguarded("passed") > before
