"""Publishing on brokers from many threads, and what a failure says about its effect."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis
from kombu.exceptions import OperationalError
from redis.exceptions import BusyLoadingError, ConnectionError, NoPermissionError, ReadOnlyError, ResponseError

from tests.gateway.handed_over import event
from wechat_bridge.errors import DispatchUnavailable
from wechat_bridge.model.event_rules import QueueTarget
from wechat_bridge.store import redis_keys
from wechat_bridge.tasks import brokers
from wechat_bridge.tasks.brokers import Brokers, NotRouted
from wechat_bridge.tasks.event_targets import QueueTargets


@pytest.fixture
def own(urls: tuple[str, str]) -> Iterator[Brokers]:
    opened = Brokers(urls[0])
    yield opened
    opened.close()


def failed(own: Brokers, error: Exception, when: str = "send") -> DispatchUnavailable:
    """What is raised when publishing, or the check before it, fails so."""

    def fail(_: object) -> None:
        raise error

    with pytest.raises(DispatchUnavailable) as caught:
        own.publish("", "queue orders", fail, fail if when == "check" else None)
    return caught.value


def _wrapped(cause: Exception) -> OperationalError:
    """An error of a driver as Celery passes it on."""
    error = OperationalError("what the driver said, with s3cret values")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "may_have_effect"),
    [
        (ResponseError("OOM s3cret"), False), (ReadOnlyError("READONLY"), False), (NoPermissionError("s3cret"), False),
        (BusyLoadingError("LOADING"), False), (_wrapped(ResponseError("OOM")), False), (NotRouted("no queue"), False),
        (ConnectionError("s3cret"), True), (redis.TimeoutError("s3cret"), True), (TimeoutError(), True),
        (BrokenPipeError(), True), (_wrapped(ConnectionError("cut")), True), (AttributeError("drain_events"), True),
    ],
    ids=repr,
)  # fmt: skip
def test_c6_what_a_broker_refused_had_no_effect_and_what_broke_off_may_have_had_one(
    own: Brokers, error: Exception, may_have_effect: bool
) -> None:
    raised = failed(own, error)
    assert raised.may_have_effect is may_have_effect
    assert str(raised).startswith("queue orders at redis://127.0.0.1:")
    assert "s3cret" not in str(raised)
    own.publish("", "queue orders", lambda producer: None)


def test_c6_what_fails_before_anything_was_published_had_no_effect(own: Brokers) -> None:
    assert failed(own, ConnectionError("cut"), "check").may_have_effect is False


def test_more_threads_than_connections_publish_each_event_once(urls: tuple[str, str]) -> None:
    door = QueueTargets(urls[0])
    target = QueueTarget.model_validate({"kind": "queue", "routing_key": "many"})
    with ThreadPoolExecutor(3 * brokers.MOST_CONNECTIONS) as pool:
        list(pool.map(lambda number: door.deliver(target, event(id=f"evt-{number}")), range(200)))
    door.close()
    with redis.Redis.from_url(urls[0], decode_responses=True) as client:
        waiting: Any = client.lrange(redis_keys.queue("many"), 0, -1)
    assert len(waiting) == 200
    assert len({message.split('"message_id": "')[1].split('"')[0] for message in waiting}) == 200


def test_whoever_finds_every_connection_busy_is_told_so_in_time(own: Brokers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brokers, "MOST_CONNECTIONS", 1)
    monkeypatch.setattr(brokers, "WAIT_SECONDS", 0.2)

    def meanwhile(_: object) -> None:
        assert failed(own, ConnectionError("never reached")).may_have_effect is False

    own.publish("", "queue orders", meanwhile)
