"""WeCom calls while ledger and Redis are taken away from a real web process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import requests
from celery import Celery

from tests.benchmarks.usage import resident_mb
from tests.support.system import wait_until
from tests.support.together import together
from tests.support.wecom_app import App, parameters
from tests.support.world import settings_for
from tests.web.calling import call, check
from tests.web.conftest import WebProcess
from wechat_bridge.channels.wecom.callback import Signed
from wechat_bridge.errors import TransientError
from wechat_bridge.flow import spill
from wechat_bridge.local.services import MongoServer, RedisServer
from wechat_bridge.wiring import Wired, build

pytestmark = pytest.mark.slow


class Stage:
    """Servers of this module alone, a web process on them, and an app that it has seen."""

    def __init__(self, redis_server: RedisServer, mongo_server: MongoServer, web: WebProcess, wired: Wired) -> None:
        self.redis, self.mongo, self.web, self.wired = redis_server, mongo_server, web, wired
        self.app = App.create(wired.bridge)

    def well(self) -> None:
        """All is there, and the web process has noticed, and knows a new app."""
        wait_until(lambda: call_or_none(self, self.app.text("well")) == 200, 20, "callbacks are stored again")
        wait_until(lambda: "well" in self.app.texts(), 20, "the ledger is back")
        self.app = App.create(self.wired.bridge)
        assert check(self.web, self.app, "known").content == b"known"


def call_or_none(stage: Stage, message: dict[str, Any], seconds: float = 10.0) -> int | None:
    """The status of a callback; None when there is no answer."""
    try:
        return call(stage.web, stage.app, message, seconds=seconds).status_code
    except requests.ConnectionError:
        return None


@pytest.fixture(scope="module")
def running(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    if {"REDIS_URL", "MONGODB_URL"} <= set(os.environ):
        pytest.fail("this test ends its servers; it needs to start them itself: unset REDIS_URL and MONGODB_URL")
    folder = tmp_path_factory.mktemp("outages")
    with RedisServer(folder / "redis") as redis_server, MongoServer(folder / "mongo") as mongo_server:
        urls = (redis_server.url, mongo_server.database_url("outages"))
        wired = build(settings_for(*urls), Celery("test", broker=urls[0]))
        wired.start()
        web = WebProcess(repository, folder, urls)
        web.start()
        yield Stage(redis_server, mongo_server, web, wired)
        web.kill()
        wired.stop()


@pytest.fixture
def stage(running: Stage) -> Stage:
    running.well()
    return running


@contextmanager
def frozen(*servers: RedisServer | MongoServer) -> Iterator[None]:
    """Servers that take connections and say nothing."""
    for server in servers:
        os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for server in servers:
            os.kill(server.pid, signal.SIGCONT)


def test_a_ledger_that_is_restarted_delays_the_answer_and_nothing_else(stage: Stage) -> None:
    away_since, back_at = time.monotonic(), []

    def come_back() -> None:
        stage.mongo.start()
        back_at.append(time.monotonic())

    stage.mongo.kill()
    back = threading.Timer(0.5, come_back)
    back.start()
    began = time.monotonic()
    assert call_or_none(stage, stage.app.text("patience")) == 200
    assert time.monotonic() - began < 5
    back.join()
    started_late = back_at[0] - away_since > 3
    assert started_late or not stage.wired.bridge.spill.channels()
    wait_until(lambda: _drained(stage), 20, "what was spilled is stored")
    assert stage.app.texts() == ["patience"]


def test_a_ledger_that_hangs_for_two_seconds_delays_the_answer_and_nothing_else(stage: Stage) -> None:
    with frozen(stage.mongo):
        thaw = threading.Timer(2.0, lambda: os.kill(stage.mongo.pid, signal.SIGCONT))
        thaw.start()
        assert call_or_none(stage, stage.app.text("patience")) == 200
        thaw.join()
    assert not stage.wired.bridge.spill.channels()
    assert stage.app.texts() == ["patience"]


def test_while_the_ledger_is_away_callbacks_are_spilled_answered_in_time_and_stored_later_once(stage: Stage) -> None:
    stage.mongo.kill()
    times: list[float] = []

    def send(number: int) -> int | None:
        began = time.monotonic()
        status = call_or_none(stage, stage.app.text(f"message {number:02}", f"person-{number}"))
        times.append(time.monotonic() - began)
        return status

    first = together(12, send)
    assert (first, max(times) < 5) == ([200] * 12, True), times
    times.clear()
    later = [send(number) for number in range(12, 16)]
    assert (later, max(times) < 2) == ([200] * 4, True), times
    assert check(stage.web, stage.app, "known").content == b"known"
    stage.mongo.start()
    wait_until(lambda: _drained(stage), 20, "the sweep stores them")
    assert sorted(stage.app.texts()) == [f"message {number:02}" for number in range(16)]


def _drained(stage: Stage) -> bool:
    """Do what the sweep does, as soon as it can be done."""
    with contextlib.suppress(TransientError):
        spill.drain(stage.wired.bridge)
        return not stage.wired.bridge.spill.channels()
    return False


async def flood(stage: Stage, posts: list[tuple[Signed, bytes]]) -> list[int]:
    """Post all at once; return the statuses, 0 for no answer."""
    url = f"http://127.0.0.1:{stage.web.port}/wecom/{stage.app.share_id}"

    async def post(session: aiohttp.ClientSession, signed: Signed, body: bytes) -> int:
        try:
            async with session.post(url, params=parameters(signed), data=body) as answer:
                return answer.status
        except aiohttp.ClientError:
            return 0

    connector, timeout = aiohttp.TCPConnector(limit=0, force_close=True), aiohttp.ClientTimeout(total=30)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        return await asyncio.gather(*(post(session, *one) for one in posts))


def test_what_finds_no_room_is_dropped_at_once_and_what_was_answered_is_kept(stage: Stage) -> None:
    posts = [stage.app.post(stage.app.text(f"{number}", f"person-{number}")) for number in range(600)]
    before = resident_mb(stage.web.pid or 0)
    with frozen(stage.mongo), ThreadPoolExecutor(1) as pool:
        flooding = pool.submit(asyncio.run, flood(stage, posts))
        wait_until(lambda: "callbacks_shed" in stage.web.log.read_text(), 10, "some find no room")
        assert check(stage.web, stage.app, "busy", seconds=2.0).content == b"busy"
        statuses = flooding.result(30)
    assert set(statuses) == {0, 200}
    assert statuses.count(200) >= 500
    assert resident_mb(stage.web.pid or 0) - before < 60
    wait_until(lambda: _drained(stage), 60, "all that was answered is stored")
    answered = {str(number) for number, status in enumerate(statuses) if status == 200}
    assert answered <= set(stage.app.texts())


def test_redis_that_hangs_delays_no_answer_while_the_ledger_is_there(stage: Stage) -> None:
    with frozen(stage.redis):
        answers = [call(stage.web, stage.app, stage.app.text(f"{number}")) for number in range(3)]
        assert [answer.status_code for answer in answers] == [200] * 3
        assert max(answer.elapsed.total_seconds() for answer in answers) < 1
    assert stage.app.texts() == ["0", "1", "2"]


def test_with_both_away_the_connection_ends_without_a_byte_and_the_repeat_is_kept(stage: Stage) -> None:
    message = stage.app.text("kept at last")
    stage.mongo.kill()
    stage.redis.kill()
    query, body = stage.app.post(message)
    address = "&".join(f"{name}={value}" for name, value in parameters(query).items())
    head = f"POST /wecom/{stage.app.share_id}?{address} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", stage.web.port), 10) as sender:
        sender.settimeout(15)
        sender.sendall(head.encode() + body)
        try:
            said = sender.recv(1000)
        except ConnectionResetError:
            said = b""
    assert said == b""
    stage.redis.start()
    stage.mongo.start()
    wait_until(lambda: call_or_none(stage, message) == 200, 30, "the repeat is taken")
    wait_until(lambda: _drained(stage), 30, "all is stored")
    assert stage.app.texts() == ["kept at last"]
    assert "Traceback" not in stage.web.log.read_text()
