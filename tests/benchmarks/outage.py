"""Redis stops, or MongoDB hangs: how long after its return until every chain polls and every message is answered."""

from __future__ import annotations

import argparse
import os
import signal
import time

from tests.benchmarks import stage
from tests.benchmarks.report import json_line, percentile, progress, table, wait
from tests.support.world import World

STEADY_SECONDS = 11.0
LONGEST_SECONDS = 180.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    stage.add_arguments(parser)
    parser.set_defaults(hold_seconds=10.0)
    parser.add_argument("--server", choices=("redis", "mongo"), required=True, help="redis stops, mongo hangs")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long it is away")
    parser.add_argument("--channels", type=int, default=30)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    with stage.stage(options) as running:
        running.system.start_all(poll_threads=options.channels + 10)
        worlds = running.system.channels(options.channels)
        running.system.wait_polling(worlds, 30)
        time.sleep(STEADY_SECONDS)
        back_at = _go_away(running, worlds, options)
        polled, answered = _recover(running, worlds, back_at)
        heard = [running.system.heard(world) for world in worlds]
    wrong = sum(texts != ["before", "during", "after"] for texts in heard)
    _print(options, polled, answered, wrong)


def _go_away(running: stage.Stage, worlds: list[World], options: argparse.Namespace) -> float:
    """Let the server be away while people write; return when it came back (Unix time)."""
    _say(running, worlds, "before")
    wait(lambda: _count(running, worlds, 1) == len(worlds), 60, "everybody is answered")
    progress(f"{options.server} goes away for {options.seconds:g} s")
    _stop(running, options.server)
    _say(running, worlds, "during")
    time.sleep(options.seconds)
    _start(running, options.server)
    back_at = time.time()
    progress("it is back")
    _say(running, worlds, "after")
    return back_at


def _stop(running: stage.Stage, server: str) -> None:
    if server == "redis":
        running.redis.stop()
    else:
        os.kill(running.mongo.pid, signal.SIGSTOP)


def _start(running: stage.Stage, server: str) -> None:
    if server == "redis":
        running.redis.start()
    else:
        os.kill(running.mongo.pid, signal.SIGCONT)


def _recover(running: stage.Stage, worlds: list[World], back_at: float) -> tuple[list[float], list[float]]:
    """Return, for each channel, the seconds from the return to its next poll and to its last answer."""
    polled: dict[str, float] = {}
    answered: dict[str, float] = {}

    def all_is_well() -> bool:
        for world in worlds:
            if world.share_id not in polled and running.system.polls_since(world, back_at):
                polled[world.share_id] = running.system.polls_since(world, back_at)[0]["started_at"] - back_at
            if world.share_id not in answered and len(running.system.heard(world)) >= 3:
                answered[world.share_id] = time.time() - back_at
        return len(polled) == len(answered) == len(worlds)

    wait(all_is_well, LONGEST_SECONDS, "every channel polls and everybody is answered")
    return list(polled.values()), list(answered.values())


def _say(running: stage.Stage, worlds: list[World], text: str) -> None:
    for world in worlds:
        running.control.say(world.bot_id, world.user(), text)


def _count(running: stage.Stage, worlds: list[World], texts: int) -> int:
    return sum(len(running.system.heard(world)) >= texts for world in worlds)


def _print(options: argparse.Namespace, polled: list[float], answered: list[float], wrong: int) -> None:
    rows = [
        ["channel polls again", min(polled), percentile(polled, 50), max(polled)],
        ["all three messages answered", min(answered), percentile(answered, 50), max(answered)],
    ]
    title = (
        f"{options.server} away for {options.seconds:g} s, {options.channels} channels; wrong conversations: {wrong}"
    )
    table(title, ["seconds after its return", "first", "p50", "last"], rows)
    json_line("outage", server=options.server, seconds=options.seconds, channels=options.channels, wrong=wrong,
              polled_seconds=round(max(polled), 2), answered_seconds=round(max(answered), 2))  # fmt: skip
