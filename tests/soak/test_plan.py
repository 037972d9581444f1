"""The schedule of a run."""

from __future__ import annotations

from collections import Counter

from tests.soak.plan import FAULTS_PER_ROUND, ROUND_SECONDS, Plan, all_kinds, lanes


def test_the_same_seed_gives_the_same_schedule() -> None:
    assert lanes(Plan(seed=7)) == lanes(Plan(seed=7))
    assert lanes(Plan(seed=7)) != lanes(Plan(seed=8))


def test_a_short_run_has_every_kind_of_fault_five_times() -> None:
    faults = Counter(fault.kind for lane in lanes(Plan()).values() for fault in lane)

    assert faults == dict.fromkeys(all_kinds(), FAULTS_PER_ROUND)


def test_a_long_run_has_more_of_each() -> None:
    plan = Plan(messages=10_000)
    faults = Counter(fault.kind for lane in lanes(plan).values() for fault in lane)

    assert plan.seconds > 7 * ROUND_SECONDS
    assert min(faults.values()) == max(faults.values()) == plan.times("kill poll") > 7 * FAULTS_PER_ROUND


def test_the_faults_of_a_lane_are_in_order_and_within_the_run() -> None:
    plan = Plan(seed=3)

    for faults in lanes(plan).values():
        times = [fault.at for fault in faults]
        assert times == sorted(times)
        assert 0 < times[0] < times[-1] < plan.seconds
