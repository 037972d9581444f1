"""Stores on a real ledger and a real Redis, both empty at the start of a module; one share_id a test."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from pymongo.database import Database

from wechat_bridge.store import broker, ledger, schema
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.ledger import Document

_names = count(1)


@pytest.fixture(scope="module")
def database(urls: tuple[str, str]) -> Iterator[Database[Document]]:
    """A ledger with its indexes."""
    with ledger.connect(urls[1]) as client:
        found = ledger.database(client)
        schema.prepare(found)
        yield found


@pytest.fixture(scope="module")
def redis_client(urls: tuple[str, str]) -> Iterator[RedisClient]:
    """A Redis database."""
    client = broker.connect(urls[0])
    yield client
    client.close()


@pytest.fixture
def share_id() -> str:
    """The name of a channel that no other test uses."""
    return f"shop-{next(_names)}"
