from __future__ import annotations

import json

import pytest

from tests.benchmarks.report import json_line, percentile, spread_ms, table


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([1.0], 50, 1.0), ([3.0, 1.0, 2.0], 50, 2.0), ([1.0, 2.0], 50, 1.0), ([1.0, 2.0], 51, 2.0)]
    + [([float(n) for n in range(1, 101)], percent, float(percent)) for percent in (1, 50, 90, 99, 100)],
)
def test_a_percentile_is_the_smallest_value_that_so_many_do_not_exceed(
    values: list[float], percent: float, expected: float
) -> None:
    assert percentile(values, percent) == expected


def test_a_spread_is_in_milliseconds_and_says_nothing_about_nothing() -> None:
    assert spread_ms([0.001, 0.002, 0.0304]) == {"p50": 2.0, "p90": 30.4, "p99": 30.4, "max": 30.4}
    assert set(spread_ms([]).values()) == {None}


def test_columns_of_a_table_stand_below_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    table("two", ["name", "ms"], [["a", 1.0], ["longer", 22.25]])
    assert capsys.readouterr().out.splitlines() == ["", "two", "  name       ms", "  a        1.00", "  longer  22.25"]


def test_the_figures_are_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    json_line("idle", channels=3, gaps=spread_ms([]))
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["gaps"]["p50"] is None
