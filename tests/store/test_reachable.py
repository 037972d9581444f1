"""Waiting for Redis and MongoDB at start, and refusing a Redis that may lose what it holds."""

from __future__ import annotations

import time
from typing import Any

import pytest
from pymongo import MongoClient
from redis.exceptions import ResponseError

from wechat_bridge.errors import ServiceNotReachable, SettingsError
from wechat_bridge.local.ports import free_port
from wechat_bridge.store import broker, ledger
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.ledger import Document
from wechat_bridge.store.reachable import check_redis, wait_for_services


def wait(redis_url: str, mongodb_url: str) -> None:
    """Wait for both, for an instant."""
    client = broker.connect(redis_url)
    mongo: MongoClient[Document]
    with ledger.connect(mongodb_url) as mongo:
        try:
            with ledger.patience(0.3):
                wait_for_services(client, redis_url, mongo, mongodb_url, 0.0)
        finally:
            client.close()


def test_services_that_run_are_found_without_waiting(urls: tuple[str, str]) -> None:
    started = time.monotonic()
    wait(*urls)
    assert time.monotonic() - started < 2


def test_a_redis_that_is_not_there_is_named_without_its_password(urls: tuple[str, str]) -> None:
    port = free_port()
    with pytest.raises(ServiceNotReachable) as refused:
        wait(f"redis://:hunter2@127.0.0.1:{port}/0", urls[1])
    assert f"127.0.0.1:{port}" in str(refused.value)
    assert "REDIS_URL" in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_mongodb_that_is_not_there_is_named_without_its_password(urls: tuple[str, str]) -> None:
    port = free_port()
    with pytest.raises(ServiceNotReachable) as refused:
        wait(urls[0], f"mongodb://u:hunter2@127.0.0.1:{port}/db")
    assert f"127.0.0.1:{port}" in str(refused.value)
    assert "MONGODB_URL" in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_redis_that_throws_keys_away_is_refused(redis_client: RedisClient) -> None:
    redis_client.config_set("maxmemory-policy", "allkeys-lru")
    try:
        with pytest.raises(SettingsError, match=r"maxmemory-policy is allkeys-lru.*noeviction"):
            check_redis(redis_client)
    finally:
        redis_client.config_set("maxmemory-policy", "noeviction")
    check_redis(redis_client)


@pytest.mark.parametrize(
    ("server", "said"),
    [({"redis_version": "6.0.16"}, "6.2 or newer"), ({"redis_version": "7.2.4", "redis_mode": "cluster"}, "Cluster")],
)
def test_a_redis_that_cannot_carry_the_queues_is_refused(
    redis_client: RedisClient, monkeypatch: pytest.MonkeyPatch, server: dict[str, Any], said: str
) -> None:
    monkeypatch.setattr(redis_client, "info", lambda _: server)
    with pytest.raises(SettingsError, match=said):
        check_redis(redis_client)


def test_a_redis_that_does_not_tell_its_policy_is_taken_with_a_warning(
    redis_client: RedisClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def forbidden(_: str) -> None:
        raise ResponseError("unknown command CONFIG")

    monkeypatch.setattr(redis_client, "config_get", forbidden)
    check_redis(redis_client)
    assert "make sure that it is noeviction" in caplog.text
