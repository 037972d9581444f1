"""One record when something begins, one when it is over, and a reminder with a count while it lasts."""

from __future__ import annotations

import pytest
from prometheus_client import REGISTRY

from tests.observe.conftest import Log
from wechat_bridge.observe import alerts
from wechat_bridge.observe.alerts import Alerts


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def said(log: Log) -> list[tuple[str, str, int | None]]:
    return [(line["event"], line["subject"], line.get("count")) for line in log.lines()]


def test_an_alert_is_one_record_however_often_it_is_raised(log: Log, clock: Clock) -> None:
    raised = Alerts(300, clock)
    for _ in range(100):
        raised.raise_("login_needed", "shop", "run: wechat-bridge channel login shop")
    assert said(log) == [("alert_raised", "shop", 1)]
    assert log.lines()[0]["advice"] == "run: wechat-bridge channel login shop"
    assert log.lines()[0]["level"] == "error"


def test_what_lasts_is_said_again_with_how_often_it_was_raised(log: Log, clock: Clock) -> None:
    raised = Alerts(300, clock)
    for second in range(0, 600, 10):
        clock.seconds = second
        raised.raise_("dead_letter", "shop", "look")
    assert said(log) == [("alert_raised", "shop", 1), ("alert_raised", "shop", 30)]


def test_the_end_is_said_once_and_only_after_a_beginning(log: Log, clock: Clock) -> None:
    raised = Alerts(300, clock)
    raised.clear("poll_failures", "shop")
    raised.raise_("poll_failures", "shop", "wait")
    raised.clear("poll_failures", "shop")
    raised.clear("poll_failures", "shop")
    raised.raise_("poll_failures", "shop", "wait")
    assert [line["event"] for line in log.lines()] == ["alert_raised", "alert_cleared", "alert_raised"]


def test_causes_and_subjects_are_apart(log: Log, clock: Clock) -> None:
    raised = Alerts(300, clock)
    raised.raise_("poll_failures", "shop", "")
    raised.raise_("poll_failures", "office", "")
    raised.raise_("login_needed", "shop", "")
    raised.clear("poll_failures", "shop")
    assert [(line["cause"], line["subject"]) for line in log.lines()[:3]] == [
        ("poll_failures", "shop"), ("poll_failures", "office"), ("login_needed", "shop"),
    ]  # fmt: skip
    assert len(log.lines()) == 4


def test_the_process_counts_what_it_reports(log: Log) -> None:
    def total() -> float:
        return REGISTRY.get_sample_value("wechat_bridge_alerts_total", {"cause": "test_cause"}) or 0

    before = total()
    alerts.raise_("test_cause", "shop", "")
    alerts.raise_("test_cause", "shop", "")
    alerts.clear("test_cause", "shop")
    assert total() - before == 1
    assert len(log.lines()) == 2
