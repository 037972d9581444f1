"""Turns a second from end to end with an instant engine, and what bounds them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping

from tests.benchmarks import stage, usage
from tests.benchmarks.accounts import start_polled
from tests.benchmarks.report import json_line, progress, table, wait

IDLE_SECONDS = 10.0
MOST_SECONDS = 600.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    stage.add_arguments(parser)
    parser.add_argument("--channels", type=int, default=50)
    parser.add_argument("--turns", type=int, default=500, help="each of a person of its own, all said at once")
    parser.add_argument("--reply-workers", type=int, default=1)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    with stage.stage(options) as running:
        bots = start_polled(running.system, options.channels, options.reply_workers)
        idle = _idle_operations(running)
        before, readings, began = _operations(running), [usage.read(running.pids)], time.monotonic()
        for number in range(options.turns):
            running.control.say(bots[number % len(bots)]["bot_id"], f"person-{number}@im.wechat", f"message {number}")
        progress(f"{options.turns} people have written")
        wait(lambda: len(running.control.sends()) >= options.turns, MOST_SECONDS, "every answer", 0.2)
        seconds = time.monotonic() - began
        readings.append(usage.read(running.pids))
        spent = {name: count - before[name] - idle[name] * seconds for name, count in _operations(running).items()}
        _print(options, seconds, spent, readings)


def _idle_operations(running: stage.Stage) -> dict[str, float]:
    """Operations a second that the ledger does when nobody writes: heartbeats, polls and sweeps."""
    before = _operations(running)
    time.sleep(IDLE_SECONDS)
    return {name: (count - before[name]) / IDLE_SECONDS for name, count in _operations(running).items()}


def _operations(running: stage.Stage) -> dict[str, int]:
    """Return what the ledger counts, by kind."""
    counters: Mapping[str, int] = running.system.wired.mongo.admin.command("serverStatus")["opcounters"]
    return {name: counters[name] for name in ("insert", "query", "update", "delete")}


def _print(
    options: argparse.Namespace, seconds: float, spent: Mapping[str, float], readings: list[usage.Reading]
) -> None:
    rate = options.turns / seconds
    shares = {name: round(usage.share(readings, name).percent, 1) for name in readings[0].cpu_seconds}
    per_turn = {name: round(10 * percent * seconds / options.turns, 1) for name, percent in shares.items()}
    others = round(usage.others_percent(readings), 1)
    title = f"{options.turns} turns in {seconds:.1f} s: {rate:.1f} a second (other programs: {others:.0f} % of a core)"
    table(title, ["process", "% of a core", "ms a turn"], [[name, shares[name], per_turn[name]] for name in shares])
    operations = {name: round(count / options.turns, 2) for name, count in spent.items()}
    rows = [[name, count] for name, count in operations.items()]
    table("operations of the ledger a turn, idle work apart", ["kind", "a turn"], rows)
    figures = {"cpu_percent": shares, "ms_per_turn": per_turn, "operations_per_turn": operations}
    given = {"turns": options.turns, "channels": options.channels, "reply_workers": options.reply_workers}
    json_line("throughput", **given, seconds=round(seconds, 2), turns_per_second=round(rate, 2), **figures,
              others_percent=others)  # fmt: skip
