"""One run: start everything, let users write and things break, wait for quiet, judge."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from tests.soak.evidence import Evidence, clock, collect
from tests.soak.faults import Lane
from tests.soak.plan import Plan, lanes
from tests.soak.record import Record
from tests.soak.stage import Stage, stage
from tests.soak.traffic import Traffic
from tests.soak.verdict import Verdict, judge
from tests.soak.watch import Watch

LATE_SECONDS = 300.0
"""Faults take a while, and those of one lane wait for each other, so the schedule may end so much later."""


@dataclass(frozen=True)
class Outcome:
    """Everything about a run that is over."""

    plan: Plan
    record: Record
    evidence: Evidence
    verdict: Verdict
    drain_seconds: float


def run(plan: Plan, folder: Path) -> Outcome:
    """Do one run in a folder that keeps data and logs."""
    record = Record()
    with stage(plan, folder) as running:
        drain_seconds = _drive(plan, running, record)
        evidence = collect(running, record)
    _keep(record, folder / "faults.txt")
    verdict = judge(plan, record, evidence)
    (folder / "violations.txt").write_text("\n".join(verdict.violations))
    return Outcome(plan, record, evidence, verdict, drain_seconds)


def _keep(record: Record, path: Path) -> None:
    """Write down what was done when, to be read beside the logs (whose times are UTC)."""
    rows = [(fault.began, fault.ended or fault.began, f"{fault.target}: {fault.kind} {fault.remark}")
            for fault in record.injected]  # fmt: skip
    rows += [(at, at, f"{name}: ended by itself") for name, at in record.restarts]
    path.write_text("".join(f"{clock(began)} {ended - began:5.1f} s {what}\n" for began, ended, what in sorted(rows)))


def _drive(plan: Plan, running: Stage, record: Record) -> float:
    """Return how long it took from the last fault and message until everything was answered and quiet."""
    began = time.monotonic()
    traffic = Traffic(plan, running, record, began)
    breakers = [Lane(name, faults, running, record, began, plan.seed) for name, faults in lanes(plan).items()]
    watch = Watch(plan, running, record)
    threads: list[Traffic | Lane] = [traffic, *breakers]
    for thread in threads:
        thread.start()
    if not watch.until(lambda: _are_done(watch, traffic, breakers), plan.seconds + LATE_SECONDS):
        record.complain("the schedule did not come to its end in time")
    drain_began = time.monotonic()
    if not watch.drain(traffic):
        record.complain(f"not quiet within {plan.drain_seconds:.0f} s after the last fault")
    seconds = time.monotonic() - drain_began
    for thread in threads:
        thread.over.set()
    for thread in threads:
        thread.join(60)
    return seconds


def _are_done(watch: Watch, traffic: Traffic, breakers: list[Lane]) -> bool:
    if traffic.is_alive():
        return False
    watch.nudge(traffic)  # the next fault of a lane may wait for an answer
    return all(lane.done.is_set() or not lane.is_alive() for lane in breakers)
