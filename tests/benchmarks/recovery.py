"""A poll worker is killed: how long until every one of its chains polls again."""

from __future__ import annotations

import argparse
import random
import time

from tests.benchmarks import stage, usage
from tests.benchmarks.accounts import add_channels, create_bots
from tests.benchmarks.report import json_line, percentile, progress, table, wait
from wechat_bridge.simulators.ilink import BotCredentials

STEADY_SECONDS = 11.0
"""The ops worker judges nobody before it has reached the ledger for 10 s."""

LONGEST_SECONDS = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    stage.add_arguments(parser)
    parser.add_argument("--channels", type=int, default=100)
    parser.add_argument("--kills", type=int, default=5)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    with stage.stage(options) as running:
        channels = add_channels(running.system, create_bots(running.control, options.channels))
        running.system.start_all(poll_threads=options.channels + 10)
        wait(lambda: running.control.stats()["open_polls"] == len(channels), 60, "every channel polls")
        time.sleep(STEADY_SECONDS)
        readings = [usage.read(running.services)]
        rounds = [_kill(running, channels, number, options) for number in range(options.kills)]
        readings.append(usage.read(running.services))
        overlaps = _overlaps(running, channels)
    _print(options, rounds, overlaps, usage.others_percent(readings))


def _kill(
    running: stage.Stage, channels: dict[str, BotCredentials], number: int, options: argparse.Namespace
) -> list[float]:
    """Start a survivor, kill the worker that holds the chains; return each chain's seconds until its next poll."""
    system, victim = running.system, "poll" if number == 0 else f"poll{number}"
    known = {worker.id for worker in system.wired.bridge.workers.all()}
    system.start("poll", f"poll{number + 1}", threads=options.channels + 10)
    wait(lambda: any(worker.id not in known for worker in system.wired.bridge.workers.all()), 30, "a survivor is alive")
    time.sleep(random.uniform(0, 3))  # beat and heartbeat are at a random point of their rounds
    wait(lambda: bool(_chains_of(running, system.processes[victim].pid)), 30, f"{victim} serves a chain")
    held = _chains_of(running, system.processes[victim].pid)
    killed_at = time.time()
    system.kill(victim)
    progress(f"kill -9 of the worker with {len(held)} chains")
    back: dict[str, float] = {}
    wait(lambda: _note_back(running, channels, held, killed_at, back), LONGEST_SECONDS, "all chains are back")
    progress(f"all are back after {max(back.values()):.1f} s")
    wait(lambda: running.control.stats()["open_polls"] == len(channels), 30, "every channel polls")
    return list(back.values())


def _chains_of(running: stage.Stage, pid: int) -> list[str]:
    owners = running.system.wired.bridge.channels.collection.find({}, {"poll_owner": 1})
    return [row["_id"] for row in owners if f":{pid}:" in (row["poll_owner"] or "")]


def _note_back(
    running: stage.Stage, channels: dict[str, BotCredentials], held: list[str], killed_at: float, back: dict[str, float]
) -> bool:
    for share_id in held:
        if share_id not in back:
            started = running.control.polls(channels[share_id]["bot_id"])[-1]["started_at"]
            if started > killed_at:
                back[share_id] = started - killed_at
    return len(back) == len(held)


def _overlaps(running: stage.Stage, channels: dict[str, BotCredentials]) -> int:
    """How often two polls of one channel were open at once; the open poll of a killed process ends with its socket."""
    return sum(running.control.stats(bot["bot_id"])["overlap_count"] for bot in channels.values())


def _print(options: argparse.Namespace, rounds: list[list[float]], overlaps: int, others_percent: float) -> None:
    columns = ["kill", "chains", "first back s", "p50 s", "all back s"]
    rows = [[n + 1, len(back), min(back), percentile(back, 50), max(back)] for n, back in enumerate(rounds)]
    table(f"kill -9 of the worker that polls {options.channels} channels (overlaps: {overlaps})", columns, rows)
    all_back = [round(max(back), 2) for back in rounds]
    given = {name: getattr(options, name) for name in ("channels", "polls_per_task", "hold_seconds", "env")}
    figures = {"all_back_seconds": all_back, "worst_seconds": max(all_back), "overlaps": overlaps}
    json_line("recovery", **given, **figures, others_percent=round(others_percent, 1))
