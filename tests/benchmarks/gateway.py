"""Events through the whole gateway: one by one, in batches, without Redis; with one, two and four web processes."""

from __future__ import annotations

import argparse
import itertools
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from tests.benchmarks import stage, usage
from tests.benchmarks.report import json_line, progress, spread_ms, table, wait
from tests.support.sink import Sink
from tests.web.conftest import WebProcess
from wechat_bridge.gateway.api_keys import digest, new_key

SENDERS = 16
BATCH = 100
KEY = new_key()
REPOSITORY = Path(__file__).parents[2]
TYPE = {
    "schema": {"json_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    "dedupe": {"by": "key", "key": "dedup:bench:{n}"},
}
BUCKET = re.compile(r'message_processing_duration_seconds_bucket\{le="([^"]+)",stage="([a-z]+)"\} ([0-9.e+]+)')

_numbers = itertools.count()


@dataclass
class Sent:
    """What was taken: events, seconds of each request, and how long it all took."""

    events: int = 0
    seconds: list[float] = field(default_factory=list)
    took_seconds: float = 0.0

    @property
    def per_second(self) -> float:
        """Events a second that were durable."""
        return self.events / self.took_seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    stage.add_arguments(parser)
    parser.set_defaults(hold_seconds=10.0)
    parser.add_argument("--seconds", type=float, default=15.0, help="of each part")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4], help="web processes")


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    rows: list[list[object]] = []
    figures: dict[str, Any] = {}
    with stage.stage(options) as running, Sink() as sink:
        for kind in ("reply", "ops", "beat"):
            running.system.start(kind, threads=16)
        running.system.wait_alive(3)
        _rule(running, sink)
        for count in options.processes:
            figure = _measure(running, sink, count, options.seconds)
            figures[str(count)] = figure
            rows += [
                [count, name, part["per_second"], *part["ms"].values(), figure["others_percent"]]
                for name, part in figure["parts"].items()
            ]
    columns = ["web processes", "events", "taken/s", "p50 ms", "p90 ms", "p99 ms", "max ms", "others % of a core"]
    table(f"Taken events ({SENDERS} senders, each waiting for its answer)", columns, rows)
    json_line("gateway", seconds=options.seconds, senders=SENDERS, processes=figures)


def _measure(running: stage.Stage, sink: Sink, count: int, seconds: float) -> dict[str, Any]:
    """Measure so many web processes."""
    with _webs(running, count) as webs:
        readings = [usage.read(running.pids)]
        parts = {"one by one": _send(webs, seconds, 1), f"batches of {BATCH}": _send(webs, 5, BATCH)}
        readings.append(usage.read(running.pids))
        through = _handed_over(running, sink)
        stages = _stages(webs)
        if count == 1:
            parts["without Redis"] = _without_redis(running, webs, seconds)
    table(f"Stages, {count} web processes (upper bounds of buckets)", ["stage", "p50 ms", "p99 ms"],
          [[name, *both] for name, both in stages.items()])  # fmt: skip
    shown = {name: {"per_second": round(part.per_second, 1), "ms": spread_ms(part.seconds)}
             for name, part in parts.items()}  # fmt: skip
    others = round(usage.others_percent(readings))
    return {"dispatched_per_second": round(through, 1), "stages_ms": stages, "others_percent": others, "parts": shown}


def _handed_over(running: stage.Stage, sink: Sink) -> float:
    """Wait until every event is handed over; return how many a second were."""
    began, before = time.monotonic(), len(sink.got)
    wait(lambda: _open(running) == 0, 900, "all are handed over")
    through = (len(sink.got) - before) / max(0.001, time.monotonic() - began)
    progress(f"all are handed over, {through:.1f} a second")
    return through


def _without_redis(running: stage.Stage, webs: list[WebProcess], seconds: float) -> Sent:
    running.redis.kill()
    sent = _send(webs, seconds, 1)
    running.redis.start()
    running.services["redis"] = running.redis.pid
    wait(lambda: _open(running) == 0, 300, "all are handed over, once Redis is back")
    return sent


def _rule(running: stage.Stage, sink: Sink) -> None:
    rules: dict[str, Any] = {
        "types": {"bench": TYPE},
        "routes": [{"target": {"kind": "http", "url": sink.url}}],
        "keys": {"bench": {"sha256": digest(KEY)}},
    }
    running.system.wired.configuration.apply({"events": rules}, "a benchmark")


@contextmanager
def _webs(running: stage.Stage, count: int) -> Iterator[list[WebProcess]]:
    urls = (running.redis.url, running.mongo.database_url("benchmark"))
    with ExitStack() as stack:
        folders = [running.system.directory / f"web-{count}-{number}" for number in range(count)]
        for folder in folders:
            folder.mkdir()
        yield [stack.enter_context(WebProcess(REPOSITORY, folder, urls)) for folder in folders]


def _send(webs: list[WebProcess], seconds: float, at_once: int) -> Sent:
    """Let senders send one request after the other."""
    progress(f"{SENDERS} senders, {at_once} events a request, {len(webs)} processes, {seconds:g} s")
    sent, ends = Sent(), time.monotonic() + seconds

    def send(web: WebProcess) -> None:
        with requests.Session() as session:
            while time.monotonic() < ends:
                _post(session, web, at_once, sent)

    threads = [threading.Thread(target=send, args=(webs[number % len(webs)],)) for number in range(SENDERS)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sent.took_seconds = time.monotonic() - began
    return sent


def _post(session: requests.Session, web: WebProcess, at_once: int, sent: Sent) -> None:
    many = [{"n": next(_numbers)} for _ in range(at_once)]
    body = json.dumps(many if at_once > 1 else many[0]).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    began = time.monotonic()
    answer = session.post(f"http://127.0.0.1:{web.port}/events/bench", body, headers=headers, timeout=30)
    sent.seconds.append(time.monotonic() - began)
    if answer.status_code in (200, 202):
        sent.events += at_once


def _open(running: stage.Stage) -> int:
    events = running.system.wired.gateway.events.collection
    return int(events.count_documents({"ring_at": {"$ne": None}}))


def _stages(webs: list[WebProcess]) -> dict[str, tuple[float, float]]:
    """Return the buckets, in ms, in which the median and the 99th percentile of each stage lie."""
    counts: dict[str, dict[float, float]] = {}
    for web in webs:
        for le, name, value in BUCKET.findall(web.get("/metrics").text):
            bounds = counts.setdefault(name, {})
            bounds[float(le)] = bounds.get(float(le), 0.0) + float(value)
    return {name: (_bound(bounds, 0.5), _bound(bounds, 0.99)) for name, bounds in counts.items()}


def _bound(bounds: dict[float, float], share: float) -> float:
    total = max(bounds.values())
    return min(le for le, count in sorted(bounds.items()) if count >= share * total) * 1000
