"""Publishes on brokers, and knows whether a failed attempt may have had an effect.

Every wait is bounded. A connection has answered before an event leaves on it, and nothing is tried again here: what
fails until then, or is refused, had no effect; what breaks off later may have had one. Whoever calls tries again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from kombu.connection import Connection, ConnectionPool
from kombu.exceptions import KombuError
from kombu.messaging import Producer
from kombu.transport.redis import Channel as RedisChannel
from redis.exceptions import BusyLoadingError, RedisError

from wechat_bridge.errors import DispatchRefused, DispatchUnavailable
from wechat_bridge.tasks.config import celery_options

WAIT_SECONDS = 5.0
"""For a connection to be free, to be made, and for each answer on it."""

MOST_CONNECTIONS = 16
"""To one broker, of one process; whoever finds all of them busy waits."""

_FAILURES = (KombuError, RedisError, OSError, AttributeError)
"""AttributeError: py-amqp, now and then, when a connection is lost."""

_REDIS_OPTIONS: dict[str, Any] = {
    "socket_timeout": WAIT_SECONDS,
    "socket_connect_timeout": WAIT_SECONDS,
    "socket_keepalive": True,
    "health_check_interval": 25,
    "client_name": "wechat-bridge-events",
}
_AMQP_OPTIONS: dict[str, Any] = {
    "confirm_publish": True,  # else a broker that is full, or has no such queue, drops an event without a word
    "read_timeout": WAIT_SECONDS,
    "write_timeout": WAIT_SECONDS,
}


class NotRouted(Exception):
    """A broker has no queue for an event."""


class Brokers:
    """Brokers by their addresses; "" is the bridge's own Redis. From any thread; making it opens no connection."""

    def __init__(self, own_url: str) -> None:
        self._own_url = own_url
        self._pools: dict[str, ConnectionPool] = {}
        self._lock = threading.Lock()

    def publish(
        self, url: str, who: str, send: Callable[[Producer], object], check: Callable[[Any], None] | None = None
    ) -> None:
        """Let ``send`` publish once, on a connection that works; ``who`` begins the messages of errors.

        ``check`` gets the channel before, and may raise NotRouted. Raises DispatchUnavailable, and DispatchRefused
        where the address is none.
        """
        pool = self._pool(url, who)
        has_begun = False
        try:
            with pool.acquire(block=True, timeout=WAIT_SECONDS) as connection:
                producer = _ready(connection)
                if check is not None:
                    check(producer.channel)
                has_begun = True
                send(producer)
        except NotRouted as error:
            raise DispatchUnavailable(f"{who} at {_place(pool)}: {error}") from None
        except _failures_of(pool) as error:
            may_have_effect = has_begun and not _is_refusal(error, pool)
            said = f"{who} at {_place(pool)}: {type(_root(error)).__name__}"
            raise DispatchUnavailable(said, may_have_effect=may_have_effect) from None

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            pool.force_close_all()

    def _pool(self, url: str, who: str) -> ConnectionPool:
        with self._lock:
            if url not in self._pools:
                self._pools[url] = self._connection(url, who).Pool(limit=MOST_CONNECTIONS)
            return self._pools[url]

    def _connection(self, url: str, who: str) -> Connection:
        address = url or self._own_url
        try:
            transport = Connection(address).transport.driver_type
        except (KeyError, ImportError, ValueError):
            raise DispatchRefused(
                f"{who}: its url names no broker that is supported here: redis, rediss, amqp"
            ) from None
        known = {"redis": _REDIS_OPTIONS, "amqp": _AMQP_OPTIONS}.get(transport, {})
        own = {} if url else celery_options().broker_transport_options
        return Connection(address, connect_timeout=WAIT_SECONDS, transport_options={**own, **known})


def _ready(connection: Connection) -> Producer:
    """Return a producer on a connection that answers now."""
    connection.ensure_connection(max_retries=0, timeout=WAIT_SECONDS)
    channel = connection.default_channel
    if isinstance(channel, RedisChannel):
        with channel.conn_or_acquire() as client:
            client.ping()
    return Producer(channel, auto_declare=False)


def _failures_of(pool: ConnectionPool) -> tuple[type[Exception], ...]:
    return (*_FAILURES, *pool.connection.connection_errors, *_refusals_of(pool))


def _refusals_of(pool: ConnectionPool) -> tuple[type[Exception], ...]:
    """Return by what a driver says that a broker did not do what it was asked: a queue is full, there is no exchange.

    RabbitMQ's word for the former is only among the errors after which to connect anew.
    """
    return (*pool.connection.channel_errors, *pool.connection.recoverable_connection_errors)


def _is_refusal(error: BaseException, pool: ConnectionPool) -> bool:
    root = _root(error)
    is_lost = isinstance(root, pool.connection.connection_errors) and not isinstance(root, BusyLoadingError)
    return isinstance(root, _refusals_of(pool)) and not is_lost


def _root(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _place(pool: ConnectionPool) -> str:
    """Return scheme and host, without who logs in there."""
    parts = urlsplit(pool.connection.as_uri())
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
