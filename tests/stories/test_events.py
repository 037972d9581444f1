"""Events from their source to their target, through real processes that are killed and cut off on the way."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.support.sink import Sink
from tests.support.system import System, wait_until
from tests.web.conftest import WebProcess
from wechat_bridge.gateway.api_keys import digest, new_key
from wechat_bridge.local.services import MongoServer, RedisServer

pytestmark = [pytest.mark.story, pytest.mark.slow]

KEY = new_key()
ANY = {"schema": {"json_schema": {"type": "object"}, "mode": "passthrough"}}
TIMEOUT_MS = 200


class Street:
    """A running system that gets events, and where they go."""

    def __init__(self, system: System, web: WebProcess, sink: Sink) -> None:
        self.system = system
        self.web = web
        self.sink = sink

    def rule(self, types: dict[str, Any], *routes: dict[str, Any], **more: Any) -> None:
        """Put rules in force everywhere; without a route every event goes to the sink."""
        ways = list(routes) or [{"target": {"kind": "http", "url": self.sink.url}}]
        keys = {"shop": {"sha256": digest(KEY)}}
        document = {"events": {"types": types, "routes": ways, "keys": keys} | more}
        number = self.system.wired.configuration.apply(document, "a story").number
        probe = next(iter(types))
        wait_until(lambda: self.post({"eventType": probe, "probe": number}) in (202, 400), 10, "rules are in force")
        time.sleep(1.5)  # the workers look every second

    def post(self, payload: dict[str, Any]) -> int:
        """Send an event; return the status of the answer."""
        url = f"http://127.0.0.1:{self.web.port}/events"
        raw = json.dumps(payload).encode()
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        return requests.post(url, raw, headers=headers, timeout=20).status_code

    def texts(self) -> list[str]:
        """The texts that have come to the sink."""
        return [payload["text"] for payload in self.sink.payloads if "text" in payload]


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    """Where events go."""
    with Sink() as running:
        yield running


@pytest.fixture(scope="module")
def street(make_system: Callable[..., System], urls: tuple[str, str], repository: Path, sink: Sink) -> Iterator[Street]:
    """Two workers that hand events over, the rest of a system, and a web process."""
    with make_system() as system:
        system.start_all(poll_threads=10)
        system.start("reply", "reply-2")
        with WebProcess(repository, system.directory, urls) as web:
            system.wait_alive(6)
            yield Street(system, web, sink)


@pytest.fixture(autouse=True)
def _empty(sink: Sink) -> None:
    sink.got.clear()


def test_a_payment_becomes_a_message_in_wechat(street: Street) -> None:
    world = street.system.channel()
    street.system.wait_polling([world])
    street.system.say([world], "hello")
    street.system.assert_heard([world], ["hello"], 15)
    street.rule(
        {"payment.callback": {"schema": {"model": "payment.callback"}, "debounce": {"wait_ms": 0},
                              "dedupe": {"by": "key", "key": "dedup:payment:{orderId}:{status}"}}},
        {"target": {"kind": "conversation", "share_id": world.share_id, "user": world.user(),
                    "text": "已收到付款 {amount} 元"}},
    )  # fmt: skip
    paid = {"eventType": "payment.callback", "orderId": f"o-{world.share_id}", "amount": 12.5, "status": "SUCCESS"}
    assert street.post(paid) == 202
    assert street.post(paid) == 200
    street.system.assert_heard([world], ["hello", "已收到付款 12.5 元"], 15)


def test_a1_a_celery_task_takes_an_event_and_says_what_became_of_it(street: Street) -> None:
    street.rule({"plain": ANY})
    call = street.system.wired.celery.send_task
    taken = call("wechat_bridge.ingest_event", [{"eventType": "plain", "text": "by task"}]).get(timeout=15)
    encoded = {"base64": base64.b64encode(b'{"text": "as bytes"}').decode()}
    typed = call("wechat_bridge.ingest_event", [encoded], {"event_type": "plain"}).get(timeout=15)
    refused = call("wechat_bridge.ingest_event", ["{"]).get(timeout=15)
    assert [answer["status"] for answer in (taken, typed, refused)] == ["accepted", "accepted", "rejected"]
    event = street.system.wired.gateway.events.get(taken["id"])
    assert event is not None
    assert event.source.value == "task"
    wait_until(lambda: sorted(street.texts()) == ["as bytes", "by task"], 15, "both are handed over")


def test_e10_windows_of_a_killed_worker_go_on_once(street: Street) -> None:
    street.rule({"chat": ANY | {"debounce": {"wait_ms": 8000}}})
    people = [f"p{number}" for number in range(30)]
    for text in ("a", "b"):
        for person in people:
            assert street.post({"eventType": "chat", "userId": person, "text": f"{person}{text}"}) == 202
    for name in ("reply", "reply-2"):
        street.system.kill(name)
    street.system.start("reply")
    street.system.start("reply", "reply-2")
    wait_until(lambda: len(street.texts()) >= len(people), 40, "every window has gone on")
    time.sleep(2)
    assert sorted(street.texts()) == sorted(f"{person}a\n{person}b" for person in people)


def test_f11_an_event_whose_worker_is_killed_in_the_middle_is_handed_over_within_twenty_seconds(street: Street) -> None:
    street.rule({"plain": ANY})
    street.system.wait_steady()
    street.sink.let_go.clear()
    assert street.post({"eventType": "plain", "text": "slow"}) == 202
    dispatching = street.system.wired.gateway.events.collection
    [row] = wait_until(lambda: list(dispatching.find({"state": "dispatching"})), 10, "somebody hands it over")
    name = street.system.name_of(row["owner"])
    street.system.kill(name)
    started = time.monotonic()
    street.sink.let_go.set()
    wait_until(street.texts, 25, "it is handed over by another worker")
    assert time.monotonic() - started < 20
    street.system.start("reply", name)


def test_d1_d2_without_redis_events_are_taken_in_time_and_go_on_once_it_is_back(
    tmp_path: Path, repository: Path
) -> None:
    with Sink() as sink, RedisServer(tmp_path / "redis") as redis, MongoServer(tmp_path / "mongo") as mongo:
        urls = (redis.url, mongo.url)
        with WebProcess(repository, tmp_path, urls) as web, System(urls, tmp_path, None, "") as system:  # type: ignore[arg-type]
            for kind in ("reply", "ops", "beat"):
                system.start(kind, threads=8)
            system.wait_alive(4)
            street = Street(system, web, sink)
            once = ANY | {"dedupe": {"by": "key", "key": "dedup:n:{n}"}}
            street.rule({"once": once, "pay": once | {"degrade": "closed"}}, degrade={"open_seconds": 1.0})
            took = _load(street, redis)
            wait_until(lambda: len(set(street.texts())) == len(took), 40, "every event goes on")
            assert len(street.texts()) == len(set(street.texts()))
            statuses = {status for status, _ in took}
            assert statuses == {202}
            slow = sorted(seconds for _, seconds in took)
            assert slow[-1] < 2.0
            wait_until(lambda: _gauge(web) == 0.0, 15, "the breaker closes again")


def _load(street: Street, redis: RedisServer) -> list[tuple[int, float]]:
    """Send events while Redis is killed and started again; return status and seconds of each."""
    took: list[tuple[int, float]] = []

    def send(first: int) -> None:
        for number in range(first, first + 100):
            began = time.monotonic()
            status = street.post({"eventType": "once", "n": number, "text": str(number)})
            took.append((status, time.monotonic() - began))
            time.sleep(0.02)

    threads = [threading.Thread(target=send, args=(first,)) for first in (0, 1000)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(took) > 30, 30, "load is on")
    redis.kill()
    wait_until(lambda: _gauge(street.web) == 1.0, 15, "the breaker opens")
    assert street.post({"eventType": "pay", "n": 1}) == 503
    repeat = street.post({"eventType": "once", "n": 0, "text": "0"})
    assert repeat == 200  # the ledger knows
    redis.start()
    for thread in threads:
        thread.join()
    return took


def _gauge(web: WebProcess) -> float:
    found = [line for line in web.get("/metrics").text.splitlines() if line.startswith("wechat_bridge_gateway_breaker")]
    return float(found[0].split()[-1]) if found else -1.0
