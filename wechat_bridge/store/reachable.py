"""Wait, within bounds, for Redis and MongoDB, and refuse a Redis that may lose what it holds."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import cast
from urllib.parse import urlsplit

from pymongo import MongoClient
from pymongo.errors import PyMongoError
from redis.exceptions import RedisError, ResponseError

from wechat_bridge.errors import ServiceNotReachable, SettingsError
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.ledger import Document

log = logging.getLogger(__name__)

OLDEST_REDIS = (6, 2)
PAUSE_SECONDS = 1.0


def wait_for_services(
    redis_client: RedisClient, redis_url: str, mongo: MongoClient[Document], mongodb_url: str, seconds: float
) -> None:
    """Return when both answer. Raises ServiceNotReachable after ``seconds``, SettingsError for an unfit Redis."""
    deadline = time.monotonic() + seconds
    _wait("Redis", "REDIS_URL", redis_url, redis_client.ping, deadline)
    _wait("MongoDB", "MONGODB_URL", mongodb_url, lambda: mongo.admin.command("ping"), deadline)
    check_redis(redis_client)


def check_redis(client: RedisClient) -> None:
    """Refuse a Redis that is too old, a cluster, or one that evicts keys. Raises SettingsError."""
    server = client.info("server")
    version = tuple(int(part) for part in str(server["redis_version"]).split(".")[:2])
    if version < OLDEST_REDIS:
        raise SettingsError(f"REDIS_URL: Redis {server['redis_version']} is too old, 6.2 or newer is needed")
    if server.get("redis_mode") == "cluster":
        raise SettingsError("REDIS_URL: Redis Cluster cannot carry Celery's queues; use a single Redis or Sentinel")
    try:
        policy = cast("dict[str, str]", client.config_get("maxmemory-policy")).get("maxmemory-policy", "noeviction")
    except ResponseError:
        log.warning("Redis does not tell its maxmemory-policy (CONFIG is not allowed); make sure that it is noeviction")
        return
    if policy != "noeviction":
        raise SettingsError(f"REDIS_URL: maxmemory-policy is {policy}, which loses doorbells; set it to noeviction")


def _wait(name: str, variable: str, url: str, ask: Callable[[], object], deadline: float) -> None:
    while True:
        try:
            ask()
            return
        except (RedisError, PyMongoError, OSError) as error:
            if time.monotonic() >= deadline:
                raise ServiceNotReachable(
                    f"{name} at {_address(url)} did not answer ({type(error).__name__}). "
                    f"Start it, or set {variable} to where it runs."
                ) from None
            log.warning("waiting for %s at %s (%s)", name, _address(url), type(error).__name__)
            time.sleep(PAUSE_SECONDS)


def _address(url: str) -> str:
    """Return the hosts and ports of a URL, or its path, without user and password."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or parts.path
