"""Events as Celery tasks of one's own, and as messages on a queue or exchange of a broker.

What they get is told in ``gateway/outgoing_event``. A task of one's own::

    from wechat_bridge.tasks.own_app import engine_app

    app = engine_app("shop", queue="shop")

    @app.task(name="shop.paid")
    def paid(event: dict) -> None:
        mark_as_paid(event["payload"]["orderId"], once=event["id"])

The id of the event is the id of the task, and comes again when an attempt may have been in vain: what a task does for
an event, it should do once.
"""

from __future__ import annotations

from typing import Any

from celery import Celery
from kombu.entity import Exchange, Queue
from kombu.messaging import Producer
from kombu.transport.virtual import Channel as VirtualChannel

from wechat_bridge.gateway.outgoing_event import outgoing_body, outgoing_event, outgoing_headers
from wechat_bridge.model.event import Event
from wechat_bridge.model.event_rules import QueueTarget, TaskTarget
from wechat_bridge.tasks.brokers import WAIT_SECONDS, Brokers, NotRouted


class TaskTargets:
    """Tasks of the operator's own workers, on the bridge's Redis."""

    def __init__(self, app: Celery) -> None:
        self._app = app
        self._brokers = Brokers(app.conf.broker_url)

    def deliver(self, target: TaskTarget, event: Event) -> None:
        """Return when the task waits in its queue. Raises DispatchUnavailable and DispatchRefused."""
        where = Queue(target.queue, Exchange(target.queue), routing_key=target.queue)

        def send(producer: Producer) -> None:
            self._app.send_task(
                target.task, [outgoing_event(event)], task_id=event.id, queue=where, headers=outgoing_headers(event),
                argsrepr=f"[{event.id}]", ignore_result=True, add_to_parent=False,
                producer=producer, retry=False, declare=[],
            )  # fmt: skip

        self._brokers.publish("", f"task {target.task} in queue {target.queue}", send)

    def close(self) -> None:
        """Close the connections."""
        self._brokers.close()


class QueueTargets:
    """Queues and exchanges, of the bridge's Redis or of another broker.

    They are not declared here: who reads them does that. An event for which there is no queue comes again; only a queue
    of Redis that is named without an exchange is there as soon as something is in it. On the bridge's own Redis readers
    need its ``global_keyprefix``, as an application of ``tasks/own_app`` has it.
    """

    def __init__(self, own_url: str) -> None:
        self._brokers = Brokers(own_url)

    def deliver(self, target: QueueTarget, event: Event) -> None:
        """Return when the broker has the event. Raises DispatchUnavailable and DispatchRefused."""
        exchange, key = target.exchange, target.routing_key
        self._brokers.publish(
            target.url.get_secret_value(),
            f"exchange {exchange}, key {key}," if exchange else f"queue {key}",
            lambda producer: _publish(producer, target, event),
            lambda channel: _check_route(channel, exchange, key),
        )

    def close(self) -> None:
        """Close the connections."""
        self._brokers.close()


def _publish(producer: Producer, target: QueueTarget, event: Event) -> None:
    returned: list[object] = []
    if not isinstance(producer.channel, VirtualChannel):
        producer.channel.events["basic_return"] = {lambda *args: returned.append(args)}
    producer.publish(
        outgoing_body(event),
        exchange=target.exchange,
        routing_key=target.routing_key,
        content_type="application/json",
        content_encoding="utf-8",
        headers=outgoing_headers(event),
        message_id=event.id,
        type=event.event_type,
        delivery_mode=2,
        mandatory=True,
        timeout=WAIT_SECONDS,
        confirm_timeout=WAIT_SECONDS,
    )
    if returned:
        raise NotRouted("no queue is bound there; does anybody read it?")


def _check_route(channel: Any, exchange: str, routing_key: str) -> None:
    """Raise NotRouted where kombu would drop an event without a word.

    In Redis an exchange is what its readers have bound; of which type it is, kombu knows only where it was declared.
    """
    if not exchange or not isinstance(channel, VirtualChannel):
        return
    bound = channel.get_table(exchange)
    channel.exchange_declare(exchange, type="topic" if any(pattern for _, pattern, _ in bound) else "direct")
    if not channel.typeof(exchange).lookup(bound, exchange, routing_key, None):
        raise NotRouted("no queue is bound there; does anybody read it?")
