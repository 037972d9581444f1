"""The life of the web process: start, stop, and services that go away and come back."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.system import wait_until
from tests.web.conftest import WebProcess
from wechat_bridge.local.services import MongoServer, RedisServer
from wechat_bridge.wiring import Wired


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json", "/"])
def test_nothing_is_shown_that_nobody_asked_for(web: WebProcess, path: str) -> None:
    answer = web.get(path)
    assert answer.status_code == 404
    assert "server" not in answer.headers


def test_stopping_it_tells_the_others_at_once(
    urls: tuple[str, str], repository: Path, tmp_path: Path, wired: Wired
) -> None:
    process = WebProcess(repository, tmp_path, urls)
    process.start()
    seen = {worker.id for worker in wired.bridge.workers.all() if f":{process.pid}:" in worker.id}
    assert len(seen) == 1
    process.stop()
    (left,) = (worker for worker in wired.bridge.workers.all() if worker.id in seen)
    age_seconds = (wired.bridge.clock.now() - left.seen_at).total_seconds()
    assert age_seconds > wired.bridge.settings.owner.dead_after_seconds
    assert "Traceback" not in process.log.read_text()


def test_without_services_it_ends_and_says_what_to_start(repository: Path, tmp_path: Path) -> None:
    urls = ("redis://user:hunter2@127.0.0.1:1/0", "mongodb://127.0.0.1:1/away")
    process = WebProcess(repository, tmp_path, urls, WECHAT_BRIDGE_START_WAIT_SECONDS="0.5")
    process.launch()
    wait_until(lambda: not process.alive, 30, "it gives up")
    assert process.exit_code not in {0, None}
    log = process.log.read_text()
    assert "start_failed" in log
    assert "Redis at 127.0.0.1:1 did not answer" in log
    assert "REDIS_URL" in log
    assert "hunter2" not in log


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[RedisServer, MongoServer]]:
    """Servers of this test alone, to be taken away."""
    if {"REDIS_URL", "MONGODB_URL"} <= set(os.environ):
        pytest.fail("this test ends its servers; it needs to start them itself: unset REDIS_URL and MONGODB_URL")
    with RedisServer(tmp_path / "redis") as redis_server, MongoServer(tmp_path / "mongo") as mongo_server:
        yield redis_server, mongo_server


@pytest.mark.slow
def test_a_scrape_and_a_probe_are_answered_while_services_are_away(
    servers: tuple[RedisServer, MongoServer], repository: Path, tmp_path: Path
) -> None:
    redis_server, mongo_server = servers
    process = WebProcess(repository, tmp_path, (redis_server.url, mongo_server.database_url("web")))
    process.start()
    redis_server.kill()
    wait_until(lambda: "wechat_bridge_broker_up 0.0" in process.get("/metrics").text, 10, "Redis is missed")
    assert "wechat_bridge_ledger_up 1.0" in process.get("/metrics").text
    assert "wechat_bridge_queue_length" not in process.get("/metrics").text
    mongo_server.kill()
    wait_until(lambda: "wechat_bridge_ledger_up 0.0" in process.get("/metrics").text, 15, "MongoDB is missed")
    started = time.monotonic()
    answer = process.get("/readyz")
    assert time.monotonic() - started < 8
    assert answer.status_code == 503
    assert {check["name"] for check in answer.json()["checks"]} == {"ledger", "broker"}
    assert process.status("/livez") == 200, "a database that is away is no reason to restart this process"
    redis_server.start()
    mongo_server.start()
    wait_until(lambda: "wechat_bridge_ledger_up 1.0" in process.get("/metrics").text, 30, "it goes on by itself")
    process.stop()
