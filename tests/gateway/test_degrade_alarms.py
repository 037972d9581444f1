"""Somebody is told that Redis is away: once in a window, with a count, and when it is over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from tests.gateway.guarded import Stage, unguarded
from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.gateway.degrade import AWAY, FAILING, SUBJECT
from wechat_bridge.gateway.error_rate import FEWEST, WINDOW_SECONDS, ErrorRate
from wechat_bridge.observe import alerts


@pytest.fixture
def stage() -> Iterator[Stage]:
    yield Stage()
    for cause in (AWAY, FAILING):
        alerts.clear(cause, SUBJECT)


def test_d1_one_failure_is_one_error_line_and_one_alarm(stage: Stage) -> None:
    stage.redis.is_away = True
    with capture_logs() as lines:
        stage.event()
    assert [(line["event"], line["log_level"]) for line in lines] == [
        ("event_dedupe_away", "error"),
        ("alert_raised", "error"),
    ]
    assert lines[0]["error"] == "Redis: TimeoutError"


def test_d3_while_it_lasts_there_is_one_alarm_in_a_window_with_a_count(stage: Stage) -> None:
    stage.redis.is_away = True
    with capture_logs() as lines:
        for _ in range(900):
            stage.event()
            stage.now += 1
    counts = [line["count"] for line in lines if line["event"] == "event_dedupe_away"]
    assert counts == [1, 300, 300]
    alarms = [line for line in lines if line["event"] == "alert_raised" and line["cause"] == AWAY]
    assert len(alarms) == 3
    assert "300 events" in alarms[1]["advice"]


def test_d3_a_redis_that_comes_and_goes_is_no_more_than_one_alarm_in_a_window(stage: Stage) -> None:
    with capture_logs() as lines:
        for _ in range(100):
            stage.redis.is_away = not stage.redis.is_away
            stage.event()
            stage.now += 1
    said = [line["event"] for line in lines if line.get("cause") == AWAY]
    assert said == ["alert_raised", "alert_cleared"]


def test_d3_it_is_said_when_redis_is_back(stage: Stage) -> None:
    stage.open()
    stage.redis.is_away = False
    stage.now += 11
    with capture_logs() as lines:
        stage.events(5)
    assert [line["event"] for line in lines if line["cause"] == AWAY] == ["alert_cleared"]


def test_d5_events_are_counted_by_what_their_type_makes_of_it(stage: Stage) -> None:
    passed, refused = unguarded("passed"), unguarded("refused")
    stage.guard.unguarded(3, 2, BrokerUnavailable("Redis"))
    assert (unguarded("passed") - passed, unguarded("refused") - refused) == (3, 2)


def test_d6_an_error_rate_above_its_threshold_is_one_alert_that_clears_on_recovery(stage: Stage) -> None:
    def minutes(count: int, failing: int) -> None:
        for second in range(60 * count):
            stage.redis.is_away = second % 10 < failing
            stage.event()
            stage.now += 1

    with capture_logs() as lines:
        minutes(2, 1)
        assert not [line for line in lines if line.get("cause") == FAILING]
        minutes(5, 3)
        said = [line["event"] for line in lines if line.get("cause") == FAILING]
        assert said == ["alert_raised"]
        minutes(2, 0)
    assert [line["event"] for line in lines if line.get("cause") == FAILING] == ["alert_raised", "alert_cleared"]


def test_d6_events_that_skip_redis_are_failures_too(stage: Stage) -> None:
    with capture_logs() as lines:
        stage.open()
        stage.events(100)
        stage.now += 11
        stage.event()
        assert [line["event"] for line in lines if line.get("cause") == FAILING] == ["alert_raised"]
        stage.redis.is_away = False
        stage.now += WINDOW_SECONDS + 11
        stage.event()
    assert [line["event"] for line in lines if line.get("cause") == FAILING] == ["alert_raised", "alert_cleared"]


def test_d6_of_a_few_calls_no_rate_is_told() -> None:
    rate = ErrorRate()
    for _ in range(FEWEST - 1):
        rate.count(0.0, is_failure=True)
    assert rate.share(0.0) == 0
    rate.count(0.0, is_failure=False)
    assert rate.share(0.0) == pytest.approx((FEWEST - 1) / FEWEST)
    assert rate.share(WINDOW_SECONDS) == 0
