"""Reads queues of brokers whose messages are events, with kombu: Redis, RabbitMQ, whatever it speaks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kombu.connection import Connection
from kombu.entity import Exchange, Queue
from kombu.message import Message
from kombu.mixins import ConsumerMixin

from wechat_bridge.errors import NotConfigured
from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.from_broker import Verdict, take
from wechat_bridge.model.event_rules import BrokerQueue
from wechat_bridge.observe.logging import logger

log = logger(__name__)

AT_ONCE = 50
REQUEUE_SECONDS = 1.0
LOOK_SECONDS = 0.5


class EventConsumer(ConsumerMixin):
    """Reads the queues of one broker until told to stop; connects again, for ever, when the broker goes away."""

    def __init__(self, connection: Connection, gateway: Gateway, queues: Sequence[BrokerQueue]) -> None:
        self.connection = connection
        self._gateway = gateway
        self._queues = queues

    def get_consumers(self, Consumer: Callable[..., Any], channel: Any) -> list[Any]:
        """Return one consumer for each queue; messages are left as the bytes that they are."""
        return [
            Consumer(queues=[_declared(queue)], on_message=partial(self._received, queue), prefetch_count=AT_ONCE)
            for queue in self._queues
        ]

    def on_connection_error(self, exc: Exception, interval: float) -> None:
        """Say that the broker is away."""
        log.warning("broker_away", error=type(exc).__name__, again_seconds=interval)

    def _received(self, queue: BrokerQueue, message: Message) -> None:
        raw = message.body if isinstance(message.body, bytes) else str(message.body).encode("utf-8", "surrogatepass")
        routing_key = str((message.delivery_info or {}).get("routing_key") or "")
        stated = str(message.content_type or "")
        verdict = take(self._gateway, queue, raw, stated, message.headers or {}, routing_key)
        if verdict is Verdict.ACK:
            message.ack()
            return
        self._gateway.stopping.wait(REQUEUE_SECONDS)
        message.requeue()


def consume(gateway: Gateway, redis_url: str, stop: threading.Event) -> None:
    """Read the queues that the rules name, whatever they become, until ``stop`` is set.

    Raises NotConfigured where the rules name none to begin with.
    """
    if not gateway.rules().consume:
        raise NotConfigured("no queue is to be read: name one in events.consume (wechat-bridge config set)")
    while not stop.is_set():
        _read_all(gateway, redis_url, gateway.rules().consume, stop)


def _read_all(gateway: Gateway, redis_url: str, queues: Sequence[BrokerQueue], stop: threading.Event) -> None:
    """Read queues, each broker in a thread of its own, until ``stop`` is set or the rules name others."""
    ended, by_broker = threading.Event(), dict[str, list[BrokerQueue]]()
    for queue in queues:
        by_broker.setdefault(queue.url.get_secret_value() or redis_url, []).append(queue)
    threads = [threading.Thread(target=_read, args=(gateway, url, some, ended)) for url, some in by_broker.items()]
    for thread in threads:
        thread.start()
    log.info("queues_read", queues=[queue.queue for queue in queues])
    try:
        while gateway.rules().consume == queues and not stop.wait(LOOK_SECONDS):
            continue
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def _read(gateway: Gateway, url: str, queues: Sequence[BrokerQueue], stop: threading.Event) -> None:
    with Connection(url, heartbeat=0) as connection:
        consumer = EventConsumer(connection, gateway, queues)
        watcher = threading.Thread(target=_stop_when, args=(stop, consumer), daemon=True)
        watcher.start()
        consumer.run()


def _stop_when(stop: threading.Event, consumer: EventConsumer) -> None:
    stop.wait()
    consumer.should_stop = True


def _declared(queue: BrokerQueue) -> Queue:
    if not queue.exchange:
        return Queue(queue.queue)
    return Queue(queue.queue, Exchange(queue.exchange, type="topic"), routing_key=queue.routing_key or "#")
