"""The schedule of a run."""

from __future__ import annotations

from collections import Counter

from tests.soak.plan import (
    FAULTS_PER_ROUND,
    FEWER,
    REST_SECONDS,
    RESTING_FAULTS,
    ROUND_SECONDS,
    Plan,
    all_kinds,
    lanes,
)


def test_the_same_seed_gives_the_same_schedule() -> None:
    assert lanes(Plan(seed=7)) == lanes(Plan(seed=7))
    assert lanes(Plan(seed=7)) != lanes(Plan(seed=8))


def test_a_short_run_has_every_kind_of_fault_five_times_and_the_costly_ones_less_often() -> None:
    faults = Counter(fault.kind for lane in lanes(Plan()).values() for fault in lane)

    assert faults == dict.fromkeys(all_kinds(), FAULTS_PER_ROUND) | FEWER
    assert set(FEWER.values()) == {2, 3}


def test_a_long_run_has_more_of_each() -> None:
    plan = Plan(messages=10_000)
    faults = Counter(fault.kind for lane in lanes(plan).values() for fault in lane)

    assert plan.seconds > 7 * ROUND_SECONDS
    assert faults == {kind: plan.times(kind) for kind in all_kinds()}
    assert plan.times("kill poll") > 7 * FAULTS_PER_ROUND


def test_what_makes_an_account_rest_comes_early_enough_to_be_over_before_the_end() -> None:
    plan = Plan()
    found = [fault for faults in lanes(plan).values() for fault in faults if fault.kind in RESTING_FAULTS]

    assert len(found) == 7
    assert max(fault.at for fault in found) < plan.seconds - REST_SECONDS


def test_the_faults_of_a_lane_are_in_order_and_within_the_run() -> None:
    plan = Plan(seed=3)

    for faults in lanes(plan).values():
        times = [fault.at for fault in faults]
        assert times == sorted(times)
        assert 0 < times[0] < times[-1] < plan.seconds
