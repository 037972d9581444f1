"""Stores on a real ledger and a real Redis, both empty at the start of a module; one share_id a test."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr
from pymongo.database import Database

from wechat_bridge.store import broker, ledger, schema
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.channels import ChannelStore
from wechat_bridge.store.ledger import Document
from wechat_bridge.store.vault import Vault

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


@pytest.fixture
def channels(database: Database[Document]) -> Iterator[ChannelStore]:
    """The store under test, without channels."""
    store = ChannelStore(database, Vault([SecretStr(Fernet.generate_key().decode())]))
    yield store
    store.collection.delete_many({})
