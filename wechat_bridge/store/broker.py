"""Connecting to Redis, and what its errors become on our side."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import resources
from typing import Any, ParamSpec, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.exceptions import ReadOnlyError, RedisError
from redis.retry import Retry

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.store.time_limit import CONNECTIONS, LimitedConnection, LimitedPool

P = ParamSpec("P")
R = TypeVar("R")

RedisClient = redis.Redis


def connect(url: str, *, pool_size: int = 50) -> RedisClient:
    """Return a client that connects on first use, within 5 s, and waits at most 5 s for an answer.

    A connection to an old primary, which refuses to write after a failover, is replaced. Nothing else is tried again:
    a call whose answer was lost may have been done.
    """
    pool = redis.BlockingConnectionPool.from_url(
        url,
        max_connections=pool_size,
        timeout=10,
        decode_responses=True,
        socket_timeout=5,
        socket_connect_timeout=5,
        health_check_interval=25,
        client_name="wechat-bridge",
        retry=Retry(NoBackoff(), 1, (ReadOnlyError,)),
    )
    return redis.Redis(connection_pool=pool)


def connect_limited(url: str, *, pool_size: int = 16) -> RedisClient:
    """Return a client for calls within a ``time_limit``, which ends each in time whatever Redis does.

    Where the name of its host has to be looked up, the resolver's own time comes on top.
    """
    pool = LimitedPool.from_url(
        url,
        connection_class=CONNECTIONS.get(url.partition(":")[0], LimitedConnection),
        max_connections=pool_size,
        decode_responses=True,
        health_check_interval=25,
        client_name="wechat-bridge-events",
        protocol=2,  # a greeting less for each new connection
        retry=Retry(NoBackoff(), 1, (ReadOnlyError,)),
    )
    return redis.Redis(connection_pool=pool)


def broker_call(function: Callable[P, R]) -> Callable[P, R]:
    """Turn the driver's errors into BrokerUnavailable, so that the flow need not know the driver."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except RedisError as error:
            raise BrokerUnavailable(f"Redis: {type(error).__name__} in {function.__qualname__}") from error

    return call


def script(client: RedisClient, name: str) -> Any:
    """Return a script of the ``lua`` folder, sent to the server on first use and again after a flush."""
    return client.register_script(resources.files(__package__).joinpath("lua", f"{name}.lua").read_text())
