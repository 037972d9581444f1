"""What many idle channels cost: CPU and memory of every process, and the gap between a held poll and the next.

The polls of a fleet end at random moments, and its tasks are at random polls of their slices; those of channels started
together do neither. So the channels become due one after the other, over one hold, and serve a random part of their
first slice with short holds. ``empty_poll_delay_seconds`` is 0 here: else a short hold would end the slice, while a
long one goes on either way.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from dataclasses import asdict, dataclass

from tests.benchmarks import stage, usage
from tests.benchmarks.accounts import add_channels, create_bots
from tests.benchmarks.poll_log import PollFigures, poll_figures
from tests.benchmarks.report import json_line, progress, spread_ms, table, wait
from tests.support.system import System
from wechat_bridge.local.child import Child
from wechat_bridge.simulators.ilink import BotCredentials

SHORT_HOLD_SECONDS = 3.0
SEED_SECONDS = 2.0
WINDOW_SLICES = 7
"""The window is read in so many slices; how they differ says how noisy the run was."""


@dataclass(frozen=True)
class Measured:
    """One window: readings of the counters, links taken, polls of the bridge and of the floor."""

    readings: list[usage.Reading]
    resident_mb: dict[str, float]
    links: int
    bridge: PollFigures
    floor: PollFigures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    stage.add_arguments(parser)
    parser.add_argument("--channels", type=int, default=1000)
    parser.add_argument("--threads", type=int, help="of the poll worker (default: a tenth more than channels)")
    parser.add_argument("--window-seconds", type=float, default=70.0)
    parser.add_argument("--floor", action="store_true", help="also run a bare requests loop with as many channels")


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    environment = {"WECHAT_BRIDGE_POLL__EMPTY_POLL_DELAY_SECONDS": "0"}
    with stage.stage(options, **environment) as running:
        bots = create_bots(running.control, options.channels)
        floor_bots = create_bots(running.control, options.channels if options.floor else 0)
        progress(f"{len(bots) + len(floor_bots)} bots exist")
        _start(running, options, bots, floor_bots)
        _settle(running, options, bots)
        _print(options, _measure(running, options, bots, floor_bots))


def _start(
    running: stage.Stage, options: argparse.Namespace, bots: list[BotCredentials], floor_bots: list[BotCredentials]
) -> None:
    for bot in bots:
        running.control.set_options(bot["bot_id"], hold_seconds=SHORT_HOLD_SECONDS)
    running.system.start_all(poll_threads=options.threads or options.channels * 11 // 10)
    progress("poll, reply, ops and beat are alive")
    add_channels(running.system, bots, spread_seconds=options.hold_seconds)
    if floor_bots:
        _start_floor(running.system, floor_bots, options.hold_seconds)


def _settle(running: stage.Stage, options: argparse.Namespace, bots: list[BotCredentials]) -> None:
    """Give each channel its long hold at a random moment of its first slice."""
    slice_seconds = SHORT_HOLD_SECONDS * options.polls_per_task + SEED_SECONDS
    progress(f"channels come in for {options.hold_seconds + slice_seconds:g} s")
    started, step_seconds = time.monotonic(), options.hold_seconds / len(bots)
    moments = [(step_seconds * number + random.uniform(0, slice_seconds), number) for number in range(len(bots))]
    for moment, number in sorted(moments):
        time.sleep(max(0.0, started + moment - time.monotonic()))
        running.control.set_options(bots[number]["bot_id"], hold_seconds=options.hold_seconds)
    everyone = len(bots) * (2 if options.floor else 1)
    wait(lambda: running.control.stats()["open_polls"] >= 0.98 * everyone, 30, "nearly every channel polls")
    progress("every channel is polled with its long hold")


def _start_floor(system: System, bots: list[BotCredentials], spread_seconds: float) -> None:
    tokens = system.directory / "floor-tokens.json"
    tokens.write_text(json.dumps([bot["token"] for bot in bots]), encoding="utf-8")
    command = [sys.executable, "-m", "tests.benchmarks.floor", system.base_url, str(tokens), str(spread_seconds)]
    environment = {**system.environment, "PYTHONPATH": os.pathsep.join(sys.path)}
    system.processes["floor"] = Child(command, system.directory / "floor.log", system.directory, environment)


def _measure(
    running: stage.Stage, options: argparse.Namespace, bots: list[BotCredentials], floor_bots: list[BotCredentials]
) -> Measured:
    links, since = _generations(running.system), time.time()
    readings = [usage.read(running.pids)]
    for number in range(WINDOW_SLICES):
        time.sleep(options.window_seconds / WINDOW_SLICES)
        readings.append(usage.read(running.pids))
        percent = usage.share(readings[-2:], "poll").percent
        progress(f"slice {number + 1} of {WINDOW_SLICES}: the poll worker used {percent:.1f} % of a core")
    until, links = time.time(), _generations(running.system) - links
    resident = {name: usage.resident_mb(pid) for name, pid in running.pids.items()}
    time.sleep(1)  # the next poll after one that ended last
    progress("reading the poll logs")
    of_bridge = poll_figures(running.control, bots, since, until)
    return Measured(readings, resident, links, of_bridge, poll_figures(running.control, floor_bots, since, until))


def _generations(system: System) -> int:
    found = system.wired.bridge.channels.collection.find({}, {"generation": 1})
    return sum(int(row["generation"]) for row in found)


def _print(options: argparse.Namespace, measured: Measured) -> None:
    shares = {name: usage.share(measured.readings, name) for name in measured.readings[0].cpu_seconds}
    seconds = measured.readings[-1].at - measured.readings[0].at
    used = {name: _of_process(name, share, measured, seconds) for name, share in shares.items()}
    title = (
        f"{options.channels} idle channels, {options.hold_seconds:g} s hold, {options.polls_per_task} polls per task, "
        f"window {seconds:.0f} s"
    )
    columns = ["process", "CPU % of a core", "least slice", "most slice", "CPU ms per poll", "RSS MB"]
    table(title, columns, [[name, *values.values()] for name, values in used.items()])
    figures = _summary(measured, shares)
    table("polls", ["figure", "value"], list(figures.items()))
    given = {name: getattr(options, name) for name in ("channels", "polls_per_task", "hold_seconds", "env")}
    json_line("idle", **given, window_seconds=round(seconds, 1), processes=used, **figures)


def _of_process(name: str, share: usage.Share, measured: Measured, seconds: float) -> dict[str, float]:
    """CPU and memory of one process; its CPU by poll is that of its own polls, or else of the bridge's."""
    polls = measured.floor.ended if name == "floor" else measured.bridge.ended
    per_poll_ms = 10 * share.percent * seconds / max(1, polls)
    figures = {**asdict(share), "per_poll_ms": per_poll_ms, "resident_mb": measured.resident_mb[name]}
    return {key: round(value, 2) for key, value in figures.items()}


def _summary(measured: Measured, shares: dict[str, usage.Share]) -> dict[str, float | None]:
    figures: dict[str, float | None] = {
        "polls": measured.bridge.ended,
        "links": measured.links,
        "polls_per_link": round(measured.bridge.ended / max(1, measured.links), 2),
        "overlaps": measured.bridge.overlaps,
    }
    figures |= {f"gap_{name}_ms": value for name, value in spread_ms(measured.bridge.gaps_seconds).items()}
    if "floor" in shares:
        figures |= {f"floor_gap_{name}_ms": value for name, value in spread_ms(measured.floor.gaps_seconds).items()}
        figures["cpu_of_poll_worker_by_floor"] = round(shares["poll"].percent / shares["floor"].percent, 2)
    figures["other_programs_percent_of_a_core"] = round(usage.others_percent(measured.readings), 1)
    return figures
