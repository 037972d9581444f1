"""Which of two versions is the newer one."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from wechat_bridge.gateway.templates import KeyMissing
from wechat_bridge.gateway.versions import Versions, sortable
from wechat_bridge.model.event_rules import DedupeRule
from wechat_bridge.store import ledger, schema
from wechat_bridge.store.event_versions import EventVersionStore

IGNORE = DedupeRule(version_field="version", subject="order:{id}", stale="ignore")
PROCESS = DedupeRule(version_field="version", subject="order:{id}", stale="process")


@pytest.fixture(scope="module")
def versions(urls: tuple[str, str]) -> Iterator[Versions]:
    with ledger.connect(urls[1]) as client:
        database = ledger.database(client)
        schema.prepare(database)
        yield Versions(EventVersionStore(database))


@pytest.fixture
def order(request: pytest.FixtureRequest) -> str:
    """An order of this test alone."""
    return str(request.node.name)


def test_c9_an_older_version_that_comes_late_is_ignored_and_logged(versions: Versions, order: str) -> None:
    assert not versions.is_stale(IGNORE, "t", {"id": order, "version": 9})
    assert not versions.is_stale(IGNORE, "t", {"id": order, "version": 10})
    with capture_logs() as lines:
        assert versions.is_stale(IGNORE, "t", {"id": order, "version": 9})
    assert [(line["event"], line["action"]) for line in lines] == [("event_stale", "skipped")]
    assert not versions.is_stale(IGNORE, "t", {"id": order, "version": 10})
    assert not versions.is_stale(IGNORE, "t", {"id": f"{order}-b", "version": 1})


def test_c9_a_rule_may_process_both_which_is_logged_too(versions: Versions, order: str) -> None:
    versions.is_stale(PROCESS, "t", {"id": order, "version": "2026-11-30T10:00:00Z"})
    with capture_logs() as lines:
        assert not versions.is_stale(PROCESS, "t", {"id": order, "version": "2026-11-30T09:00:00Z"})
    assert [(line["event"], line["action"]) for line in lines] == [("event_stale", "processed")]


def test_c9_a_type_without_versions_costs_nothing(versions: Versions) -> None:
    assert not versions.is_stale(DedupeRule(), "t", {})


def test_c9_versions_of_another_kind_begin_a_line_of_their_own(versions: Versions, order: str) -> None:
    for version in (5, "v5", "2026-11-30T10:00:00Z"):
        assert not versions.is_stale(IGNORE, "t", {"id": order, "version": version})
    for version in (4, "v4", "2026-11-29T10:00:00Z"):
        assert versions.is_stale(IGNORE, "t", {"id": order, "version": version})


@pytest.mark.parametrize("payload", [{"id": "a"}, {"version": 1}, {"id": "a", "version": None}])
def test_c9_what_it_needs_is_named(versions: Versions, payload: dict[str, Any]) -> None:
    with pytest.raises(KeyMissing):
        versions.is_stale(IGNORE, "t", payload)


@pytest.mark.parametrize("version", [True, "", "x" * 257, "9" * 1_000, 10**2_000, Decimal("1E+999999")])
def test_c9_a_version_that_is_none_is_refused(version: Any) -> None:
    with pytest.raises(KeyMissing, match="version"):
        sortable("version", version)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (9, 10), ("9", "10"), (-10, -9), (-1, 0), (-1.5, -1), (0, 0.5), (1, Decimal("1.0000000000000000001")),
        (2**63, 2**63 + 1), ("9", 10), ("007", 8), ("v1", "v2"),
        ("2026-11-30T10:00:00Z", "2026-11-30T10:00:00.5Z"),
        ("2026-11-30T18:00:00+08:00", "2026-11-30T10:00:01Z"),
        ("2026-11-30T10:00:00", "2026-11-30T10:00:01"), ("2026-11-30", "2026-12-01"),
    ],
)  # fmt: skip
def test_c9_the_newer_one_is_told(older: Any, newer: Any) -> None:
    kinds, texts = zip(*(sortable("v", version) for version in (older, newer)), strict=True)
    assert kinds[0] == kinds[1]
    assert texts[0] < texts[1]


def test_c9_the_same_moment_in_two_zones_is_the_same_version() -> None:
    assert sortable("v", "2026-11-30T18:00:00+08:00") == sortable("v", "2026-11-30T10:00:00Z")


numbers = st.integers() | st.decimals(-(10**20), 10**20, places=6)


@given(numbers, numbers)
def test_c9_numbers_compare_as_numbers(one: Any, other: Any) -> None:
    texts = [sortable("v", version)[1] for version in (one, other)]
    assert (texts[0] < texts[1], texts[0] == texts[1]) == (one < other, one == other)
