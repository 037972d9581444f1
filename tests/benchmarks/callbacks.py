"""Callbacks of WeCom on one web process beside replies: how fast, the URL check, ten times what can be stored."""

from __future__ import annotations

import argparse
import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from tests.benchmarks import stage, usage
from tests.benchmarks.accounts import add_channels, create_bots
from tests.benchmarks.report import json_line, progress, spread_ms, table, wait
from tests.support.wecom_app import App, parameters
from tests.web.calling import check
from tests.web.conftest import WebProcess
from wechat_bridge.model.access import AccessRules, Policy

PATIENCE_SECONDS = 5.0
"""WeCom waits no longer for an answer."""

SENDERS = 32
CHECKS = 50
PEOPLE = 500
FLOOD = 10
LATEST_SECONDS = 120.0
COUNTER = "wechat_bridge_callbacks_total"
REPOSITORY = Path(__file__).parents[2]


@dataclass
class Sent:
    """What became of callbacks: seconds of those answered with 200, the outcomes of all, MsgIds that must be kept."""

    seconds: list[float] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    kept: list[int] = field(default_factory=list)
    took_seconds: float = 0.0

    @property
    def per_second(self) -> float:
        """How many were kept and answered."""
        return len(self.seconds) / self.took_seconds

    @property
    def offered_per_second(self) -> float:
        """How many were sent."""
        return self.outcomes.total() / self.took_seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    stage.add_arguments(parser)
    parser.set_defaults(hold_seconds=10.0)
    parser.add_argument("--rate", type=float, default=20.0, help="callbacks a second, at random moments")
    parser.add_argument("--replies", type=float, default=2.0, help="messages a second that iLink channels answer")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each part but the flood")
    parser.add_argument("--flood-seconds", type=float, default=10.0)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    with stage.stage(options) as running:
        bots = create_bots(running.control, 10)
        running.system.start_all(poll_threads=20, reply_threads=50)
        add_channels(running.system, bots, engine="echo")
        urls = (running.redis.url, running.mongo.database_url("benchmark"))
        web = WebProcess(REPOSITORY, running.system.directory, urls, WECHAT_BRIDGE_DEBOUNCE__IDLE_SECONDS="0")
        app = App.create(running.system.wired.bridge)
        # Their messages wait for no engine: what is measured is that they are taken, beside replies to others.
        rules = AccessRules(policy=Policy.DISABLED)
        app.bridge.channels.configure(app.share_id, {"access": rules.model_dump()})
        with web, _replies(running, bots[0]["bot_id"], options.replies):
            _measure(options, running, web, app)


def _measure(options: argparse.Namespace, running: stage.Stage, web: WebProcess, app: App) -> None:
    pids = running.pids | {"web": web.pid or 0}
    checks = [check(web, app, "echo").elapsed.total_seconds() for _ in range(CHECKS)]
    readings = [usage.read(pids)]
    steady = asyncio.run(_open(web, app, options.rate, options.seconds))
    readings.append(usage.read(pids))
    most = asyncio.run(_closed(web, app, options.seconds))
    memory = [usage.resident_mb(pids["web"])]
    flood = asyncio.run(_open(web, app, FLOOD * most.per_second, options.flood_seconds))
    memory.append(usage.resident_mb(pids["web"]))
    busy = [check(web, app, "echo").elapsed.total_seconds() for _ in range(CHECKS)]
    parts = {f"{options.rate:g} a second": steady, f"{SENDERS} at once": most, f"{FLOOD} times that": flood}
    wait(lambda: not app.bridge.spill.channels(), LATEST_SECONDS, "what was spilled is stored")
    lost = {name: _lost(app, part) for name, part in parts.items()}
    _print(options, parts, lost, {"before": checks, "after the flood": busy}, memory, readings)
    rows = [line.removeprefix(COUNTER).split(" ") for line in web.get("/metrics").text.splitlines() if COUNTER in line]
    table("What the process counted in all", ["outcome", "callbacks"], [row for row in rows if len(row) == 2])


@contextmanager
def _replies(running: stage.Stage, bot_id: str, rate: float) -> Iterator[None]:
    """People write to iLink channels, and are answered, as long as this lasts; 0: nobody does."""
    if not rate:
        yield
        return
    done = threading.Event()

    def write() -> None:
        for number in range(10**9):
            running.control.say(bot_id, f"person-{number}@im.wechat", f"message {number}")
            if done.wait(random.expovariate(rate)):
                return

    writer = threading.Thread(target=write, name="replies", daemon=True)
    writer.start()
    wait(lambda: bool(running.control.sends()), 30, "replies run")
    yield
    done.set()
    writer.join()


@contextmanager
def _timed(sent: Sent) -> Iterator[None]:
    began = time.monotonic()
    yield
    sent.took_seconds = time.monotonic() - began


def _session() -> aiohttp.ClientSession:
    """A connection for each callback, as a proxy in front makes them by default."""
    timeout = aiohttp.ClientTimeout(total=PATIENCE_SECONDS)
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, force_close=True), timeout=timeout)


async def _open(web: WebProcess, app: App, rate: float, seconds: float) -> Sent:
    """Send at a rate, whatever becomes of what was sent before."""
    progress(f"{rate:.0f} callbacks a second for {seconds:g} s")
    sent, under_way = Sent(), set[asyncio.Task[None]]()
    async with _session() as session:
        with _timed(sent):
            ends = (at := time.monotonic()) + seconds
            while (at := at + random.expovariate(rate)) < ends:
                await asyncio.sleep(max(0.0, at - time.monotonic()))
                if time.monotonic() > ends:
                    break
                task = asyncio.create_task(_post(session, web, app, sent))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
        await asyncio.gather(*under_way)
    return sent


async def _closed(web: WebProcess, app: App, seconds: float) -> Sent:
    """Let some senders send one callback after the other."""
    progress(f"{SENDERS} senders for {seconds:g} s")
    sent, ends = Sent(), time.monotonic() + seconds

    async def send() -> None:
        while time.monotonic() < ends:
            await _post(session, web, app, sent)

    async with _session() as session:
        with _timed(sent):
            await asyncio.gather(*(send() for _ in range(SENDERS)))
    return sent


async def _post(session: aiohttp.ClientSession, web: WebProcess, app: App, sent: Sent) -> None:
    message: dict[str, Any] = app.text("hello", f"member-{random.randrange(PEOPLE)}")
    query, body = app.post(message)
    url = f"http://127.0.0.1:{web.port}/wecom/{app.share_id}"
    began = time.monotonic()
    try:
        async with session.post(url, params=parameters(query), data=body) as answer:
            outcome = str(answer.status)
    except TimeoutError:
        outcome = "late"
    except aiohttp.ClientError:
        outcome = "dropped"
    sent.outcomes[outcome] += 1
    if outcome == "200":
        sent.seconds.append(time.monotonic() - began)
        sent.kept.append(message["MsgId"])


def _lost(app: App, sent: Sent) -> int:
    """How many were answered with success and are not in the inbox."""
    found = app.bridge.inbox.collection.find({"share_id": app.share_id}, {"seq": 1})
    return len(set(sent.kept) - {row["seq"] for row in found})


def _print(
    options: argparse.Namespace, parts: dict[str, Sent], lost: dict[str, int], checks: dict[str, list[float]],
    memory: list[float], readings: list[usage.Reading],
) -> None:  # fmt: skip
    spreads = {name: spread_ms(part.seconds) for name, part in parts.items()}
    rows = [
        [name, round(part.offered_per_second, 1), round(part.per_second, 1), *spreads[name].values(),
         part.outcomes["dropped"], part.outcomes["late"], lost[name]]
        for name, part in parts.items()
    ]  # fmt: skip
    columns = ["callbacks", "sent/s", "200/s", "p50 ms", "p90 ms", "p99 ms", "max ms", "dropped", "late", "lost"]
    table(f"One web process, while {options.replies:g} replies a second run beside it", columns, rows)
    of_checks = {name: spread_ms(seconds) for name, seconds in checks.items()}
    table(
        "URL check", ["when", "p50 ms", "p90 ms", "p99 ms", "max ms"], [[n, *s.values()] for n, s in of_checks.items()]
    )
    table("Memory of the web process, MB", ["before the flood", "after it"], [memory])
    shares = {name: round(usage.share(readings, name).percent, 1) for name in readings[0].cpu_seconds}
    others = round(usage.others_percent(readings), 1)
    title = f"CPU at {options.rate:g} callbacks a second (other programs: {others:.0f} % of a core)"
    table(title, ["process", "% of a core"], list(shares.items()))
    figures = {
        name: {"sent_per_second": round(part.offered_per_second, 1), "kept_per_second": round(part.per_second, 1),
               "ms": spreads[name], "outcomes": dict(part.outcomes), "lost": lost[name]}
        for name, part in parts.items()
    }  # fmt: skip
    given = {"rate": options.rate, "replies": options.replies, "seconds": options.seconds}
    json_line("callbacks", **given, parts=figures, url_check=of_checks, memory_mb=memory, cpu_percent=shares,
              others_percent=others)  # fmt: skip
