"""Which dead letters the filters mean, and what times and rates are understood."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from wechat_bridge.cli.dead_view import Filter, as_fields, as_row, moment, per_second
from wechat_bridge.model.dead_letter import DeadLetter

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LETTER = DeadLetter(
    id="wechat-reply:shop:1", share_id="shop", chat_id="c", stage="reply", event_type="text",
    error_class="EngineRefused", error="the key\nis wrong " + "x" * 100, traceback="Traceback", attempts=4, original=[],
    trace_id="t", first_failure_at=NOW - timedelta(hours=1), last_failure_at=NOW,
)  # fmt: skip


@pytest.mark.parametrize(
    "meant",
    [
        Filter(),
        Filter(share_id="shop"),
        Filter(stage="reply", error="KEY"),
        Filter(error="enginerefused"),
        Filter(since=NOW),
    ],
)
def test_a_filter_takes_what_fits_in_every_part(meant: Filter) -> None:
    assert meant.takes(LETTER)


@pytest.mark.parametrize(
    "meant",
    [
        Filter(share_id="sho"),
        Filter(stage="deliver"),
        Filter(error="model"),
        Filter(share_id="shop", stage="broker"),
        Filter(since=NOW + timedelta(seconds=1)),
    ],
)
def test_a_filter_leaves_out_what_does_not_fit_in_one(meant: Filter) -> None:
    assert not meant.takes(LETTER)
    assert not meant.is_empty


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30s", NOW - timedelta(seconds=30)),
        ("5 min", NOW - timedelta(minutes=5)),
        ("5m", NOW - timedelta(minutes=5)),
        ("2h", NOW - timedelta(hours=2)),
        ("7d", NOW - timedelta(days=7)),
        ("2026-11-29T10:00:00Z", datetime(2026, 11, 29, 10, tzinfo=UTC)),
        ("2026-11-29T10:00:00+08:00", datetime(2026, 11, 29, 2, tzinfo=UTC)),
        ("2026-11-29", datetime(2026, 11, 29, tzinfo=UTC)),
    ],
)
def test_a_time_is_so_long_ago_or_iso_in_utc_unless_it_says_otherwise(text: str, expected: datetime) -> None:
    assert moment(text, NOW) == expected


@pytest.mark.parametrize("text", ["", "soon", "-2h", "2 weeks", "1.5h"])
def test_other_times_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        moment(text, NOW)


def test_a_rate_is_so_many_a_second() -> None:
    assert [per_second(text) for text in ("5/s", "5 / s", "0.5/s", "20")] == [5.0, 5.0, 0.5, 20.0]


@pytest.mark.parametrize("text", ["", "0/s", "-1/s", "fast", "5/min"])
def test_other_rates_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        per_second(text)


def test_times_are_iso_8601_in_utc() -> None:
    fields = as_fields(LETTER)
    assert (fields["timestamp"], fields["replayed_at"]) == ("2026-11-30T12:00:00.000Z", None)
    assert fields["first_failure_at"] == "2026-11-30T11:00:00.000Z"


def test_a_row_of_the_list_is_one_line() -> None:
    error = as_row(LETTER)[-1]
    assert "\n" not in error
    assert error.startswith("EngineRefused: the key is wrong")
    assert len(error) == 60
