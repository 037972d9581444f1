"""Every process follows the configuration (acceptance G5 to G7)."""

from __future__ import annotations

import time
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.flow.configuration.fixtures import IDLE, Place, idle
from wechat_bridge.errors import LedgerUnavailable, SettingsError
from wechat_bridge.live import Live
from wechat_bridge.model.event_rules import EventRules
from wechat_bridge.observe import alerts
from wechat_bridge.store import redis_keys
from wechat_bridge.store.configuration import ConfigurationStore
from wechat_bridge.wiring import Wired

Lines = list[Any]


@pytest.fixture
def place(wired: Wired, monkeypatch: pytest.MonkeyPatch) -> Place:
    """An installation without any version, of which nothing is reported yet."""
    fresh = alerts.Alerts()
    monkeypatch.setattr(alerts, "raise_", fresh.raise_)
    monkeypatch.setattr(alerts, "clear", fresh.clear)
    return Place.empty(wired)


class Away(ConfigurationStore):
    """Versions in a ledger that cannot be read, until it ``is_back``."""

    is_back = False

    def newest_number(self) -> int:
        """The number, when the ledger is back."""
        if not self.is_back:
            raise LedgerUnavailable("MongoDB: gone")
        return super().newest_number()


def away(place: Place) -> Away:
    store = place.store
    found = Away.__new__(Away)
    found.__dict__.update(store.__dict__)
    return found


def in_force(live: Live) -> tuple[int, float]:
    return live.current().version, live.current().settings.debounce.idle_seconds


def alerts_in(lines: Lines) -> list[tuple[str, str]]:
    return [(line["event"], line["subject"]) for line in lines if line["event"].startswith("alert_")]


def test_g5_a_process_starts_with_the_newest_version_and_takes_up_each_next_one(place: Place) -> None:
    place.changes.apply(idle(2), "ann")
    place.changes.apply(idle(3), "ann")
    live, follower = place.process()
    assert in_force(live) == (2, 3.0)
    follower.look()
    assert in_force(live) == (2, 3.0)
    place.changes.apply(idle(4), "ann")
    place.changes.apply(idle(5), "ann")
    follower.look()
    assert in_force(live) == (4, 5.0)
    follower.look()
    assert place.told == [2, 4], "told once each, so that whoever published it sees it taken up"


def test_without_any_version_the_environment_is_in_force(place: Place) -> None:
    live, follower = place.process()
    follower.look()
    assert in_force(live) == (0, 1.0)


def test_rules_that_did_not_change_stay_the_same_object_so_that_nothing_is_built_anew(place: Place) -> None:
    place.changes.apply({"events": {"wait_ms": 5}}, "ann")
    live, follower = place.process()
    rules = live.rules()
    place.changes.set(IDLE, 7, "ann")
    follower.look()
    assert in_force(live) == (2, 7.0)
    assert live.rules() is rules
    place.changes.set("events.wait_ms", 6, "ann")
    follower.look()
    assert live.rules().wait_ms == 6


def test_g6_an_unfit_version_leaves_the_last_good_one_in_force_with_an_alert_that_names_it(place: Place) -> None:
    place.changes.apply(idle(2), "ann")
    live, follower = place.process()
    place.changes.apply(idle(3), "ann")
    place.spoil(2, text='{"settings": {"debounce": {"idle_seconds": -3}}}')
    with capture_logs() as lines:
        follower.look()
        follower.look()
    assert in_force(live) == (1, 2.0)
    assert alerts_in(lines) == [("alert_raised", "version 2")]
    assert IDLE in lines[0]["advice"]
    assert "version 1 stays in force" in lines[0]["advice"]
    place.changes.apply(idle(4), "ann")
    with capture_logs() as lines:
        follower.look()
    assert in_force(live) == (3, 4.0)
    assert alerts_in(lines) == [("alert_cleared", "version 2")]


@pytest.mark.parametrize("spoiled", [{"text": "{"}, {"format": 2}, {"by": 5}, {"sealed": [["a"]]}])
def test_g6_a_process_starts_with_the_last_version_that_is_good(place: Place, spoiled: dict[str, Any]) -> None:
    place.changes.apply(idle(2), "ann")
    place.changes.apply(idle(3), "ann")
    place.spoil(2, **spoiled)
    with capture_logs() as lines:
        live, _ = place.process()
    assert in_force(live) == (1, 2.0)
    assert alerts_in(lines) == [("alert_raised", "version 2")]


def test_g6_rules_that_nobody_can_use_are_not_put_in_force(place: Place) -> None:
    def check(rules: EventRules) -> None:
        if rules.wait_ms == 13:
            raise SettingsError("no luck")

    live, follower = place.process(check)
    place.changes.apply({"events": {"wait_ms": 13}}, "ann")
    with capture_logs() as lines:
        follower.look()
    assert live.current().version == 0
    assert "no luck" in lines[0]["advice"]


def test_g7_a_ledger_that_cannot_be_read_at_start_leaves_the_last_good_version_with_an_alert(place: Place) -> None:
    place.changes.apply(idle(2), "ann")
    place.process()
    store = away(place)
    with capture_logs() as lines:
        live, follower = place.process(store=store)
    assert in_force(live) == (1, 2.0)
    assert alerts_in(lines) == [("alert_raised", "configuration")]
    with pytest.raises(LedgerUnavailable):
        follower.look()
    store.is_back = True
    place.changes.apply(idle(3), "ann")
    with capture_logs() as lines:
        follower.look()
    assert in_force(live) == (2, 3.0)
    assert alerts_in(lines) == [("alert_cleared", "configuration")]


@pytest.mark.parametrize("kept", [None, "{", '{"number": 1}'])
def test_g7_with_nothing_kept_the_environment_counts_and_the_alert_says_so(place: Place, kept: str | None) -> None:
    if kept:
        place.wired.redis.set(redis_keys.CONFIGURATION, kept)
    with capture_logs() as lines:
        live, _ = place.process(store=away(place))
    assert in_force(live) == (0, 1.0)
    (alert,) = [line for line in lines if line["event"] == "alert_raised"]
    assert "the environment alone counts" in alert["advice"]


def test_g7_where_no_version_of_the_ledger_is_fit_the_kept_one_is_used(place: Place) -> None:
    place.changes.apply(idle(2), "ann")
    place.process()
    place.spoil(1, text="{")
    with capture_logs() as lines:
        live, _ = place.process()
    assert in_force(live) == (1, 2.0)
    assert alerts_in(lines) == [("alert_raised", "version 1"), ("alert_raised", "configuration")]


def test_an_older_ledger_that_was_put_back_is_noticed(place: Place) -> None:
    for seconds in (2, 3, 4):
        place.changes.apply(idle(seconds), "ann")
    live, follower = place.process()
    place.store.collection.delete_many({"number": {"$gte": 2}})
    follower.look()
    assert in_force(live) == (1, 2.0)
    place.changes.apply(idle(5), "ann")
    follower.look()
    assert in_force(live) == (2, 5.0)


def test_g5_a_running_process_has_it_within_two_seconds(place: Place, wired: Wired) -> None:
    began = time.monotonic()
    number = place.changes.set(IDLE, 7, "ann").number
    while wired.bridge.settings.debounce.idle_seconds != 7:
        assert time.monotonic() - began < 2, "in force within 2 s"
        time.sleep(0.01)
    assert wired.bridge.live.current().version == number
