from __future__ import annotations

import mmap
import os
import time

import pytest

from tests.benchmarks import usage


def burn(seconds: float) -> None:
    ends_at = time.process_time() + seconds
    while time.process_time() < ends_at:
        pass


def test_work_shows_in_the_share_of_its_process_and_not_in_that_of_others() -> None:
    pids = {"self": os.getpid()}
    before = usage.read(pids)
    burn(0.3)
    after = usage.read(pids)
    used = after.cpu_seconds["self"] - before.cpu_seconds["self"]
    assert 0.25 < used < 0.6
    share = usage.share([before, after], "self")
    assert share.percent == pytest.approx(100 * used / (after.at - before.at))
    busy = after.machine_busy_seconds - before.machine_busy_seconds
    assert usage.others_percent([before, after]) == pytest.approx(
        max(0.0, 100 * (busy - used) / (after.at - before.at))
    )


def test_the_slices_of_a_window_show_how_much_they_differ() -> None:
    readings = [usage.Reading(at, {"one": cpu}, 0.0) for at, cpu in [(0.0, 5.0), (10.0, 5.5), (20.0, 8.5)]]
    assert usage.share(readings, "one") == usage.Share(17.5, 5.0, 30.0)


def test_memory_that_was_touched_is_resident() -> None:
    with mmap.mmap(-1, 30_000_000) as block:  # of its own, never memory that was used before
        before = usage.resident_mb(os.getpid())
        block.write(b"x" * len(block))
        assert 25 < usage.resident_mb(os.getpid()) - before < 75
