"""A reply worker is killed: how long until the replies it was working on are sent, by how far each had come."""

from __future__ import annotations

import argparse
import time
from collections import defaultdict

from tests.benchmarks import stage
from tests.benchmarks.report import json_line, percentile, progress, table, wait
from tests.support.world import World

STEADY_SECONDS = 11.0
LONGEST_SECONDS = 120.0
PAUSES_SECONDS = (0.3, 0.8, 1.5, 2.5)
"""How long after the messages each kill comes: while turns open, while the engine thinks, while answers go out."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    stage.add_arguments(parser)
    parser.set_defaults(hold_seconds=10.0)
    parser.add_argument("--channels", type=int, default=20)
    parser.add_argument("--engine-seconds", type=float, default=1.0, help="how long the engine thinks")


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    waits: dict[str, list[float]] = defaultdict(list)
    with stage.stage(options) as running:
        running.system.start_all(poll_threads=options.channels + 10)
        worlds = running.system.channels(options.channels, engine="slow")
        running.system.wait_polling(worlds, 30)
        time.sleep(STEADY_SECONDS)
        for number, pause in enumerate(PAUSES_SECONDS):
            _kill(running, worlds, number, pause, options, waits)
        calls = running.system.engine_calls()
        heard = [running.system.heard(world) for world in worlds]
    expected = [f"{number} {world.share_id}" for world in worlds for number in range(len(PAUSES_SECONDS))]
    wrong = sum(sorted(texts) != sorted(set(texts)) for texts in heard)
    _print(options, waits, wrong, len(calls) - len(expected))


def _kill(
    running: stage.Stage, worlds: list[World], number: int, pause: float, options: argparse.Namespace,
    waits: dict[str, list[float]],
) -> None:  # fmt: skip
    """Start a second worker, let everybody write, kill the first one; note how long each reply takes from then on."""
    system = running.system
    victim, heir = ("reply" if number == 0 else f"reply{number}"), f"reply{number + 1}"
    for world in worlds:
        running.control.say(world.bot_id, world.user(), f"{options.engine_seconds} {number} {world.share_id}")
    time.sleep(pause)
    owner = f":{system.processes[victim].pid}:"
    system.kill(victim)
    killed_at = time.time()
    states = {world.share_id: _state(world, owner) for world in worlds}
    system.start("reply", heir)
    progress(f"killed {pause} s after the messages: {sorted(states.values())}")
    left = {world.share_id: world for world in worlds}

    def all_answered() -> bool:
        for share_id, world in list(left.items()):
            if f"{number} {share_id}" in system.heard(world):
                waits[states[share_id]].append(time.time() - killed_at)
                del left[share_id]
        return not left

    wait(all_answered, LONGEST_SECONDS, "everybody is answered")


def _state(world: World, owner: str) -> str:
    turn = world.bridge.turns.open_of(world.chat())
    if turn is None:
        return "no open turn"
    return f"{turn.state.value}{', held by it' if owner in (turn.owner or '') else ''}"


def _print(options: argparse.Namespace, waits: dict[str, list[float]], wrong: int, more_calls: int) -> None:
    rows = [
        [state, len(found), min(found), percentile(found, 50), max(found)] for state, found in sorted(waits.items())
    ]
    counts = f"answered twice: {wrong}; engine asked again: {more_calls}"
    title = f"reply worker killed, engine {options.engine_seconds:g} s; {counts}"
    table(title, ["state of the turn when killed", "turns", "first s", "p50 s", "last s"], rows)
    json_line("lost_replies", engine_seconds=options.engine_seconds, wrong=wrong, asked_again=more_calls,
              last_seconds={state: round(max(found), 1) for state, found in sorted(waits.items())})  # fmt: skip
