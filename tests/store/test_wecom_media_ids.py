"""Ids of uploaded files in a real Redis."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.store import broker, redis_keys
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.wecom_media_ids import WecomMediaIds

FILE = ("wwmedia", "7", "a-file")


@pytest.fixture
def redis_client(redis_url: str) -> Iterator[RedisClient]:
    """A Redis without ids."""
    client = broker.connect(redis_url)
    client.delete(redis_keys.wecom_media(*FILE))
    yield client
    client.close()


def test_an_id_is_known_to_all_for_as_long_as_it_is_good(redis_client: RedisClient) -> None:
    assert WecomMediaIds(redis_client).get(*FILE) is None
    WecomMediaIds(redis_client).put(*FILE, "m-1", 60.0)
    assert WecomMediaIds(redis_client).get(*FILE) == "m-1"
    assert 50 < int(str(redis_client.ttl(redis_keys.wecom_media(*FILE)))) <= 60


def test_a_late_complaint_does_not_forget_a_newer_id(redis_client: RedisClient) -> None:
    ids = WecomMediaIds(redis_client)
    ids.put(*FILE, "new", 60.0)
    ids.forget(*FILE, "old")
    assert ids.get(*FILE) == "new"
    ids.forget(*FILE, "new")
    assert ids.get(*FILE) is None


def test_without_redis_it_says_so() -> None:
    client = broker.connect("redis://127.0.0.1:9/0")
    with pytest.raises(BrokerUnavailable):
        WecomMediaIds(client).get(*FILE)
    client.close()
