"""Events on queues: a worker of somebody else's runs a task, a reader of somebody else's reads a message."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kombu
import pytest
import redis
from celery import Celery

from tests.gateway.handed_over import TRACE_ID, event
from tests.support.own_worker import shop_worker
from tests.support.proxy.redis_faults import Mood, RedisProxy
from tests.support.proxy.tcp import Connection as Proxied
from tests.support.proxy.tcp import Cut
from wechat_bridge.errors import DispatchRefused, DispatchUnavailable
from wechat_bridge.gateway.outgoing_event import outgoing_event
from wechat_bridge.gateway.targets import TargetDoor
from wechat_bridge.model.event_rules import QueueTarget, TaskTarget
from wechat_bridge.tasks import brokers
from wechat_bridge.tasks.event_targets import QueueTargets, TaskTargets
from wechat_bridge.tasks.own_app import engine_app

Connection: Any = kombu.Connection  # type: ignore[attr-defined]
Exchange: Any = kombu.Exchange  # type: ignore[attr-defined]
Queue: Any = kombu.Queue  # type: ignore[attr-defined]

SHOP = """
import json
import os

import redis

from wechat_bridge.tasks.own_app import engine_app

app = engine_app("shop", queue="shop")


@app.task(name="shop.paid", bind=True)
def paid(self, event):
    request = self.request
    told = {"event": event, "id": request.id, "traceparent": request.traceparent, "shown": request.argsrepr}
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        client.rpush("shop:told", json.dumps(told))
"""


@pytest.fixture
def client(urls: tuple[str, str]) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(urls[0], decode_responses=True, socket_timeout=60) as connected:
        yield connected


@pytest.fixture
def tasks(app: Celery) -> Iterator[TaskTargets]:
    door = TaskTargets(app)
    yield door
    door.close()


@pytest.fixture
def queues(urls: tuple[str, str]) -> Iterator[QueueTargets]:
    door = QueueTargets(urls[0])
    yield door
    door.close()


@pytest.fixture
def proxy(urls: tuple[str, str]) -> Iterator[RedisProxy]:
    """Something between the bridge and Redis."""
    with RedisProxy(urlsplit(urls[0]).port or 6379) as running:
        yield running


def task(queue: str = "shop") -> TaskTarget:
    return TaskTarget(kind="task", task="shop.paid", queue=queue)


def queue_target(routing_key: str, url: str = "", exchange: str = "") -> QueueTarget:
    described = {"kind": "queue", "url": url, "exchange": exchange, "routing_key": routing_key}
    return QueueTarget.model_validate(described)


def own_url(proxy: RedisProxy, urls: tuple[str, str]) -> str:
    """Where the proxy shows the database of this module."""
    return proxy.url(int(urlsplit(urls[0]).path.lstrip("/")))


def failed(door: TargetDoor, target: Any) -> DispatchUnavailable:
    with pytest.raises(DispatchUnavailable) as caught:
        door.deliver(target, event())
    return caught.value


def read(connection: Any, queue: Any, most: int = 1, seconds: float = 5.0) -> list[Any]:
    """Take messages from a queue like a reader that knows nothing of us."""
    got: list[Any] = []

    def keep(body: Any, message: Any) -> None:
        got.append((body, message))
        message.ack()

    deadline = time.monotonic() + seconds
    with connection.Consumer(queue, callbacks=[keep], accept=["json"]):
        while len(got) < most and time.monotonic() < deadline:
            try:
                connection.drain_events(timeout=0.3)
            except TimeoutError:
                continue
    return got


@pytest.mark.slow
def test_f3_a_task_of_somebody_elses_worker_gets_the_event_once(
    tasks: TaskTargets, urls: tuple[str, str], client: redis.Redis, tmp_path: Path
) -> None:
    given = event({"orderId": "0042", "id": 2**70, "amount": 12.5}, id="evt-7", attempts=2)
    with shop_worker(SHOP, tmp_path, urls[0]):
        tasks.deliver(task(), given)
        found: Any = client.blpop(["shop:told"], timeout=30)
        assert client.blpop(["shop:told"], timeout=1) is None
    told = json.loads(found[1])
    assert told["event"] == outgoing_event(given)
    assert (told["id"], told["shown"]) == ("evt-7", "[evt-7]")
    assert told["traceparent"].split("-")[1] == TRACE_ID


def test_c6_a_task_that_redis_cannot_take_had_no_effect(app: Celery) -> None:
    away = Celery("away", broker="redis://:s3cret@127.0.0.1:1/0", set_as_current=False)
    door = TaskTargets(away)
    started = time.monotonic()
    error = failed(door, task())
    assert time.monotonic() - started < 2
    assert str(error) == "task shop.paid in queue shop at redis://127.0.0.1:1: ConnectionError"
    assert error.may_have_effect is False
    away.close()


def test_f3_a_reader_of_a_queue_in_our_redis_gets_the_event_as_json(
    queues: QueueTargets, urls: tuple[str, str]
) -> None:
    given = event({"orderId": "0042", "id": 2**70, "name": "已收到"})
    queues.deliver(queue_target("orders"), given)
    reader = engine_app("reader", queue="orders")
    reader.conf.broker_url = urls[0]
    with reader.connection_for_read() as connection:
        ((body, message),) = read(connection, Queue("orders", Exchange(""), routing_key="orders"))
    assert body == outgoing_event(given)
    assert message.headers["x-event-id"] == message.properties["message_id"] == "evt-1"
    assert message.headers["traceparent"].split("-")[1] == TRACE_ID
    assert message.content_type == "application/json"
    reader.close()


@pytest.mark.parametrize(
    ("kind", "bound", "key"),
    [("direct", "paid", "paid"), ("topic", "order.*.paid", "order.eu.paid"), ("topic", "order.#", "order.eu.refunded")],
)
def test_f3_readers_of_an_exchange_of_another_broker_get_it_by_their_key(
    queues: QueueTargets, urls: tuple[str, str], kind: str, bound: str, key: str
) -> None:
    exchange = Exchange(f"shop-{kind}", type=kind)
    wanted = Queue(f"{bound}-readers", exchange, routing_key=bound)
    other = Queue("others", exchange, routing_key="something.else")
    with Connection(urls[0]) as connection:
        for each in (wanted, other):
            each(connection.default_channel).declare()
        queues.deliver(queue_target(key, urls[0], exchange.name), event())
        ((body, message),) = read(connection, wanted)
        assert read(connection, other, seconds=0.5) == []
    assert body["id"] == "evt-1"
    assert message.delivery_info["routing_key"] == key


def test_an_event_that_no_queue_would_get_is_not_lost_without_a_word(
    queues: QueueTargets, urls: tuple[str, str]
) -> None:
    target = queue_target("nobody", urls[0], "nowhere")
    error = failed(queues, target)
    assert "exchange nowhere, key nobody, at redis://127.0.0.1" in str(error)
    assert "no queue is bound there" in str(error)
    assert error.may_have_effect is False
    with Connection(urls[0]) as connection:
        queue = Queue("late", Exchange("nowhere", type="direct"), routing_key="nobody")
        queue(connection.default_channel).declare()
        queues.deliver(target, event())
        assert len(read(connection, queue)) == 1


def test_c6_a_broker_that_refuses_has_done_nothing(proxy: RedisProxy, urls: tuple[str, str]) -> None:
    door = QueueTargets(own_url(proxy, urls))
    door.deliver(queue_target("orders-refused"), event())
    for mood in (Mood.READONLY, Mood.LOADING):
        proxy.be(mood)
        assert failed(door, queue_target("orders-refused")).may_have_effect is False
    proxy.be(Mood.WELL)
    door.deliver(queue_target("orders-refused"), event())
    door.close()


def test_c6_a_broker_whose_answer_does_not_arrive_may_have_done_it(
    proxy: RedisProxy, urls: tuple[str, str], client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushing: set[int] = set()
    real = proxy.faults.request

    def request(connection: Proxied, data: bytes) -> bytes:
        if b"lpush" in data.lower():
            pushing.add(connection.number)
        return real(connection, data)

    def reply(connection: Proxied, data: bytes) -> bytes:
        if connection.number in pushing:
            raise Cut
        return data

    monkeypatch.setattr(proxy.faults, "request", request)
    monkeypatch.setattr(proxy.faults, "reply", reply)
    door = QueueTargets(urls[0])
    assert failed(door, queue_target("orders-cut", own_url(proxy, urls))).may_have_effect is True
    assert client.llen("orders-cut") == 1
    door.close()


def test_a_broker_that_hangs_is_left_before_anything_was_published(
    urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch, proxy: RedisProxy
) -> None:
    monkeypatch.setitem(brokers._REDIS_OPTIONS, "socket_timeout", 0.3)
    door = QueueTargets(urls[0])
    target = queue_target("orders-hang", own_url(proxy, urls))
    door.deliver(target, event())
    monkeypatch.setattr(proxy.faults, "request", lambda connection, data: b"")
    started = time.monotonic()
    assert failed(door, target).may_have_effect is False
    assert time.monotonic() - started < 3
    monkeypatch.undo()
    door.deliver(target, event())
    door.close()


def test_a_connection_that_broke_meanwhile_is_made_anew(proxy: RedisProxy, urls: tuple[str, str]) -> None:
    door = QueueTargets(urls[0])
    target = queue_target("orders-anew", own_url(proxy, urls))
    door.deliver(target, event())
    assert proxy.cut_all() > 0
    door.deliver(target, event())
    door.close()


@pytest.mark.parametrize("url", ["carrier-pigeon://:s3cret@coop", "sqs://:s3cret@"])
def test_f6_an_address_that_names_no_broker_is_refused(queues: QueueTargets, url: str) -> None:
    with pytest.raises(DispatchRefused, match="queue orders: its url names no broker") as caught:
        queues.deliver(queue_target("orders", url), event())
    assert "s3cret" not in str(caught.value)


def test_no_password_is_in_an_error(queues: QueueTargets) -> None:
    error = failed(queues, queue_target("orders", "redis://somebody:s3cret@127.0.0.1:1/0"))
    assert str(error) == "queue orders at redis://127.0.0.1:1: ConnectionError"
