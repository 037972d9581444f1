"""How long ``wechat-bridge demo --once hello`` takes until its answer stands there, and until it has ended."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from statistics import median

from tests.benchmarks import usage
from tests.benchmarks.report import json_line, progress, table

LONGEST_SECONDS = 90.0
TEXT = "hello"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--runs", type=int, default=3)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    readings = [usage.read({})]
    runs = [_once(number) for number in range(options.runs)]
    readings.append(usage.read({}))
    table(
        "wechat-bridge demo --once hello",
        ["run", "answer after s", "ended after s"],
        [[n + 1, *run] for n, run in enumerate(runs)],
    )
    answers, ends = ([run[column] for run in runs] for column in (0, 1))
    json_line(
        "demo",
        answer_seconds=[round(seconds, 2) for seconds in answers],
        end_seconds=[round(seconds, 2) for seconds in ends],
        median_answer_seconds=round(median(answers), 2),
        median_end_seconds=round(median(ends), 2),
        machine_busy_percent_of_a_core=round(usage.others_percent(readings), 1),
    )


def _once(number: int) -> tuple[float, float]:
    """Run the command; return after how many seconds it printed the answer and ended. Raises RuntimeError."""
    progress(f"demo, run {number + 1}")
    outside = ("WECHAT_", "REDIS_URL", "MONGODB_URL")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(outside)}
    command = [sys.executable, "-m", "wechat_bridge.cli.main", "demo", "--once", TEXT]
    started = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        end = threading.Timer(LONGEST_SECONDS, process.kill)
        end.start()
        answer = process.stdout.readline() if process.stdout else ""
        answered = time.monotonic() - started
        code = process.wait()
        end.cancel()
    if code != 0 or answer.strip() != TEXT:
        raise RuntimeError(f"the demo ended with code {code} and printed {answer!r}; its messages are above")
    return answered, time.monotonic() - started
