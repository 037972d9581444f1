"""What processes and the machine use, from Linux's ``/proc``."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Reading:
    """CPU seconds used until now, by each process and by the whole machine; ``at`` is of the monotonic clock."""

    at: float
    cpu_seconds: Mapping[str, float]
    machine_busy_seconds: float


@dataclass(frozen=True)
class Share:
    """What one process used of a core over a window, in percent, and in its quietest and busiest slice of it."""

    percent: float
    least_percent: float
    most_percent: float


def read(pids: Mapping[str, int]) -> Reading:
    """Read the counters of processes. Raises FileNotFoundError when one has ended."""
    used = {name: cpu_seconds(pid) for name, pid in pids.items()}
    return Reading(time.monotonic(), used, _machine_busy_seconds())


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and all its threads, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def resident_mb(pid: int) -> float:
    """Resident memory of a process, in MB of 10^6 bytes."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    kibibytes = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
    return kibibytes * 1024 / 1e6


def share(readings: list[Reading], name: str) -> Share:
    """Return what a process used of a core from the first reading to the last."""
    slices = [_percent(first, second, name) for first, second in pairwise(readings)]
    return Share(_percent(readings[0], readings[-1], name), min(slices), max(slices))


def others_percent(readings: list[Reading]) -> float:
    """Return what programs other than those read used, in percent of one core."""
    first, last = readings[0], readings[-1]
    ours = sum(last.cpu_seconds.values()) - sum(first.cpu_seconds.values())
    busy = last.machine_busy_seconds - first.machine_busy_seconds
    return max(0.0, 100 * (busy - ours) / (last.at - first.at))


def _percent(first: Reading, last: Reading, name: str) -> float:
    return 100 * (last.cpu_seconds[name] - first.cpu_seconds[name]) / (last.at - first.at)


def _machine_busy_seconds() -> float:
    """CPU time of everything but idling, stolen time (used by neighbours on the same host) included."""
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    fields = Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:]
    ticks = dict(zip(names, map(int, fields), strict=False))
    return sum(count for name, count in ticks.items() if name not in {"idle", "iowait"}) / TICKS_PER_SECOND
