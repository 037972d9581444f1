"""From a message at the simulated WeChat to the engine's call and the sent answer, without debouncing, at a rate."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

from tests.benchmarks import stage, usage
from tests.benchmarks.accounts import start_polled
from tests.benchmarks.report import json_line, progress, spread_ms, table
from wechat_bridge.simulators.ilink import BotCredentials

STEPS = (
    "available → stored",
    "stored → turn open",
    "turn open → reply task",
    "reply task → engine",
    "engine → answer stored",
    "answer stored → delivery",
    "delivery → accepted",
)
TO_ENGINE = 4
"""So many of the steps lead to the engine."""

WHOLE = "available → engine called"
ADDED = "added by the bridge in all"
WARM_SECONDS = 5.0
LATEST_SECONDS = 45.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    stage.add_arguments(parser)
    parser.add_argument("--channels", type=int, default=100)
    parser.add_argument("--rate", type=float, default=20.0, help="messages a second, at random moments")
    parser.add_argument("--seconds", type=float, default=60.0)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    with stage.stage(options) as running:
        bots = start_polled(running.system, options.channels)
        _wait_asked(running, _say(running, bots, WARM_SECONDS, options.rate, "warm"))
        readings = [usage.read(running.pids)]
        said = _say(running, bots, options.seconds, options.rate, "message")
        _wait_asked(running, said)
        _wait_sent(running, said)
        readings.append(usage.read(running.pids))
        _print(options, len(said), _latencies(running), readings)


def _say(running: stage.Stage, bots: list[BotCredentials], seconds: float, rate: float, word: str) -> list[str]:
    """Say something as a new person each time, at random moments; return what was said."""
    progress(f"{rate:g} messages a second for {seconds:g} s")
    said: list[str] = []
    at = time.monotonic()
    ends_at = at + seconds
    while (at := at + random.expovariate(rate)) < ends_at:
        time.sleep(max(0.0, at - time.monotonic()))
        text = f"{word} {len(said)}"
        running.control.say(random.choice(bots)["bot_id"], f"{word}-{len(said)}@im.wechat", text)
        said.append(text)
    return said


def _wait_asked(running: stage.Stage, said: list[str]) -> None:
    """Wait until the engine was asked everything, but not for ever: what it was not asked by then is counted."""
    deadline = time.monotonic() + LATEST_SECONDS
    while time.monotonic() < deadline and not _calls(running).keys() >= set(said):
        time.sleep(0.2)
    progress(f"the engine was asked {len(_calls(running).keys() & set(said))} of {len(said)}")


def _wait_sent(running: stage.Stage, said: list[str]) -> None:
    """Wait until WeChat has every answer, but not for ever."""
    deadline = time.monotonic() + LATEST_SECONDS
    while time.monotonic() < deadline and not {send["text"] for send in running.control.sends()} >= set(said):
        time.sleep(0.5)


def _calls(running: stage.Stage) -> dict[str, float]:
    """When the engine was asked what, in Unix seconds."""
    if not running.engine_log.exists():
        return {}
    lines = running.engine_log.read_text(encoding="utf-8").splitlines()
    return {text: float(at) for at, _, text in (line.partition("\t") for line in lines)}


def _latencies(running: stage.Stage) -> dict[str, list[float]]:
    """Seconds of each step, and of the whole, for every message. The simulated WeChat's stamp is cut to whole ms."""
    bridge = running.system.wired.bridge
    turns = {
        row["message_ids"][0]: row["times"] for row in bridge.turns.collection.find({}, {"message_ids": 1, "times": 1})
    }
    calls = _calls(running)
    found: dict[str, list[float]] = {name: [] for name in (*STEPS, WHOLE, ADDED)}
    for row in bridge.inbox.collection.find():
        text = row["items"][0]["text"]
        if text.startswith("message ") and text in calls and "sent" in turns[row["_id"]]:
            moments = _moments(row, turns[row["_id"]], calls[text])
            for name, (first, second) in zip(STEPS, pairwise(moments), strict=True):
                found[name].append(second - first)
            found[WHOLE].append(moments[TO_ENGINE] - moments[0])
            found[ADDED].append(moments[-1] - moments[0])
    return found


def _moments(row: Mapping[str, Any], times: Mapping[str, datetime], engine_at: float) -> list[float]:
    before: Iterable[datetime] = (row["sent_at"], row["received_at"], times["queued"], times["generating"])
    after: Iterable[datetime] = (times["generated"], times["delivering"], times["sent"])
    return [*(stamp.timestamp() for stamp in before), engine_at, *(stamp.timestamp() for stamp in after)]


def _print(
    options: argparse.Namespace, said: int, latencies: dict[str, list[float]], readings: list[usage.Reading]
) -> None:
    spreads = {name: spread_ms(values) for name, values in latencies.items()}
    asked = len(latencies[WHOLE])
    columns = ["step", "p50 ms", "p90 ms", "p99 ms", "max ms"]
    title = f"{options.rate:g} messages a second on {options.channels} channels, debounce 0; answered {asked} of {said}"
    table(title, columns, [[name, *spread.values()] for name, spread in spreads.items()])
    shares = {name: round(usage.share(readings, name).percent, 2) for name in readings[0].cpu_seconds}
    seconds = readings[-1].at - readings[0].at
    others = round(usage.others_percent(readings), 1)
    rows = [[name, percent, 10 * percent * seconds / max(1, asked)] for name, percent in shares.items()]
    table(f"CPU (other programs: {others:.0f} % of a core)", ["process", "% of a core", "ms per message"], rows)
    given = {name: getattr(options, name) for name in ("channels", "rate", "polls_per_task", "env")}
    figures = {"steps": spreads, "cpu_percent": shares, "others_percent": others}
    json_line("latency", **given, said=said, answered=asked, seconds=round(seconds, 1), **figures)
