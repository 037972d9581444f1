"""Events that a broker brings: acknowledged once durable, or kept as dead letters (acceptance A1, D5, F2, F7)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest
from kombu import connection, entity

from tests.gateway.conftest import desk, sink
from tests.gateway.desk import PLAIN, Desk, rules_for
from tests.support.sink import Sink
from tests.support.system import wait_until
from wechat_bridge.errors import LedgerUnavailable, NotConfigured, ReplayRefused
from wechat_bridge.gateway.resubmit import resubmit
from wechat_bridge.model.event import Event
from wechat_bridge.store.event_spill import EventSpill
from wechat_bridge.tasks.event_consumer import consume
from wechat_bridge.wiring import Wired

__all__ = ["desk", "sink"]

Connection, Exchange, Queue = (cast("Any", each) for each in (connection.Connection, entity.Exchange, entity.Queue))


class Shop:
    """Somebody who publishes events, and the bridge that reads them."""

    def __init__(self, wired: Wired, desk: Desk, name: str) -> None:
        self.url = wired.bridge.settings.redis_url
        self.name = name
        self.desk = desk

    def publish(self, body: Any, content_type: str = "application/json", **headers: str) -> None:
        """Publish a message."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        exchange = Exchange(f"{self.name}-exchange", type="topic")
        queue = Queue(self.name, exchange, routing_key="paid.#")
        with Connection(self.url) as broker, broker.Producer() as producer:
            producer.publish(
                raw, exchange=exchange, routing_key="paid.card", declare=[queue], headers=headers,
                content_type=content_type, content_encoding="binary",
            )  # fmt: skip

    def waiting(self) -> int:
        """How many messages nobody has acknowledged."""
        redis = self.desk.wired.redis
        unacked = cast("dict[str, str]", redis.hgetall("unacked"))
        return int(redis.llen(self.name)) + sum(self.name in text for text in unacked.values())

    def events(self) -> list[Event]:
        """What was taken for this shop."""
        store = self.desk.gateway.events
        found = store.collection.find({"source": "broker"}, {"_id": 1})
        events = [store.get(row["_id"]) for row in found]
        return [event for event in events if event and event.payload.get("shop") == self.name]


@pytest.fixture
def shop(wired: Wired, sink: Sink, request: pytest.FixtureRequest) -> Iterator[Shop]:
    """A shop whose queue is read."""
    name = f"shop-{abs(hash(request.node.name))}"
    queue = {"queue": name, "exchange": f"{name}-exchange", "routing_key": "paid.#"}
    desk = Desk(wired, sink, rules_for(sink, {"plain": PLAIN}, consume=[queue]))
    stop = threading.Event()
    reader = threading.Thread(target=consume, args=(desk.gateway, wired.bridge.settings.redis_url, stop))
    reader.start()
    yield Shop(wired, desk, name)
    stop.set()
    reader.join()


def test_a1_a_message_becomes_an_event_with_its_bytes_headers_and_routing_key(shop: Shop) -> None:
    body = json.dumps({"eventType": "plain", "shop": shop.name}).encode()
    shop.publish(body, trace="7")
    wait_until(lambda: len(shop.events()) == 1 and shop.waiting() == 0, 10, "it is taken")
    [event] = shop.events()
    assert event.raw_payload == body
    assert event.source.value == "broker"
    assert event.headers["routing-key"] == "paid.card"
    assert event.headers["trace"] == "7"


def test_f2_what_cannot_be_read_is_kept_as_a_letter_and_the_next_is_taken(shop: Shop) -> None:
    shop.publish(b"{ not JSON")
    shop.publish({"eventType": "plain", "shop": shop.name})
    wait_until(lambda: len(shop.events()) == 1 and shop.waiting() == 0, 10, "both are dealt with")
    letters = shop.desk.gateway.dead_letters.all_waiting()
    [letter] = [each for each in letters if each.stage == "parse"]
    assert letter.id.startswith("refused-evt-")
    with pytest.raises(ReplayRefused, match="JSON"):
        resubmit(shop.desk.gateway, letter.id, "a test")
    shop.desk.gateway.dead_letters.mark_discarded(letter.id, "a test", shop.desk.gateway.clock.now())


def test_f7_what_was_refused_is_taken_when_its_type_is_known(shop: Shop, wired: Wired, sink: Sink) -> None:
    shop.publish({"eventType": "late", "shop": shop.name})
    wait_until(lambda: letters_of(shop, "late"), 10, "it is kept as a letter")
    [letter_id] = letters_of(shop, "late")
    wiser = Desk(wired, sink, rules_for(sink, {"late": PLAIN}))
    resubmit(wiser.gateway, letter_id, "a test")
    [event] = shop.events()
    assert event.event_type == "late"
    with pytest.raises(ReplayRefused, match="already"):
        resubmit(wiser.gateway, letter_id, "a test")


def letters_of(shop: Shop, event_type: str) -> list[str]:
    """The letters of a type that wait."""
    waiting = shop.desk.gateway.dead_letters.all_waiting()
    return [letter.id for letter in waiting if letter.event_type == event_type]


def test_d5_what_cannot_be_kept_stays_with_the_broker(wired: Wired, sink: Sink) -> None:
    def away(*_: object) -> object:
        raise LedgerUnavailable("away")

    name = "shop-away"
    queue = {"queue": name, "exchange": f"{name}-exchange", "routing_key": "paid.#"}
    desk = Desk(wired, sink, rules_for(sink, {"plain": PLAIN}, consume=[queue]))
    shop, stop = Shop(wired, desk, name), threading.Event()
    failing = desk.with_part("events", "add", away).using(keep_seconds=0.0, spill=EventSpill(wired.redis, 0))
    reader = threading.Thread(target=consume, args=(failing.gateway, shop.url, stop))
    reader.start()
    shop.publish({"eventType": "plain", "shop": name})
    gate = threading.Event()
    gate.wait(2)
    stop.set()
    reader.join()
    assert shop.events() == []
    assert shop.waiting() == 1
    stop = threading.Event()
    reader = threading.Thread(target=consume, args=(desk.gateway, shop.url, stop))
    reader.start()
    wait_until(lambda: len(shop.events()) == 1 and shop.waiting() == 0, 10, "it is taken in the end")
    stop.set()
    reader.join()


def test_g5_a_queue_that_is_named_later_is_read_without_a_restart(wired: Wired, sink: Sink) -> None:
    def named(name: str) -> dict[str, str]:
        return {"queue": name, "exchange": f"{name}-exchange", "routing_key": "paid.#"}

    rules = [rules_for(sink, {"plain": PLAIN}, consume=[named(name)]) for name in ("shop-before", "shop-after")]
    desk = Desk(wired, sink, rules[0])
    in_force, stop = [rules[0]], threading.Event()
    gateway = desk.using(rules=lambda: in_force[0]).gateway
    shop = Shop(wired, desk, "shop-after")
    reader = threading.Thread(target=consume, args=(gateway, shop.url, stop))
    reader.start()
    in_force[0] = rules[1]
    shop.publish({"eventType": "plain", "shop": "shop-after"})
    wait_until(lambda: len(shop.events()) == 1 and shop.waiting() == 0, 15, "it is read")
    stop.set()
    reader.join()
    assert len(shop.events()) == 1


def test_without_a_queue_to_read_somebody_is_told(desk: Desk) -> None:
    with pytest.raises(NotConfigured, match=r"events\.consume"):
        consume(desk.gateway, "redis://127.0.0.1:1/0", threading.Event())
