"""Versions of the configuration as they are stored."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial

import pytest
from pydantic import SecretStr

from tests.support.world import KEY
from wechat_bridge.errors import DocumentInvalid, NotConfigured, SettingsError
from wechat_bridge.store import ledger, redis_keys
from wechat_bridge.store.configuration import ConfigurationCache, ConfigurationStore, new_version
from wechat_bridge.store.vault import Vault
from wechat_bridge.wiring import Wired

AT = datetime(2026, 11, 30, tzinfo=UTC)
DOCUMENT = {
    "settings": {"engines": {"a": {"api_key": "very-secret", "extra": {"$top.p": 2**70}}}},
    "events": {"types": {"a.b": {"schema": {"json_schema": {"$ref": "#"}}}}},
}
SECRET = ("settings", "engines", "a", "api_key")


@pytest.fixture
def store(wired: Wired) -> ConfigurationStore:
    found = ConfigurationStore(ledger.database(wired.mongo), Vault((SecretStr(KEY),)))
    found.collection.delete_many({"number": {"$gte": 1}})
    return found


def add(store: ConfigurationStore, number: int, by: str = "ann") -> bool:
    text, sealed = store.seal(DOCUMENT, [SECRET])
    return store.add(new_version(number, text, sealed, by=by, at=AT, note=f"the {number}th"))


def test_a_document_is_read_as_it_was_written_whatever_its_names_and_numbers(store: ConfigurationStore) -> None:
    assert (store.newest_number(), store.get(1)) == (0, None)
    assert add(store, 1)
    stored = store.get(1)
    assert stored is not None
    assert (stored.number, stored.by, stored.at, stored.note, stored.sealed) == (1, "ann", AT, "the 1th", (SECRET,))
    assert store.open(stored) == DOCUMENT


def test_a_secret_is_neither_in_the_ledger_nor_in_redis_nor_in_a_repr(wired: Wired, store: ConfigurationStore) -> None:
    add(store, 1)
    stored, cache = store.get(1), ConfigurationCache(wired.redis)
    assert stored is not None
    cache.keep(stored)
    assert cache.get() == stored
    assert "very-secret" not in repr([store.collection.find_one({"number": 1}), stored])
    assert "very-secret" not in str(wired.redis.get(redis_keys.CONFIGURATION))


def test_the_newest_number_is_the_highest_and_other_documents_of_the_collection_do_not_count(
    store: ConfigurationStore,
) -> None:
    assert all(add(store, number) for number in range(1, 13))
    assert store.newest_number() == 12
    assert store.collection.find_one({"_id": "schema"}) is not None


def test_of_fifty_who_publish_one_number_one_has_published_it(store: ConfigurationStore) -> None:
    names = [str(number) for number in range(50)]
    with ThreadPoolExecutor(len(names)) as pool:
        first = list(pool.map(partial(add, store, 1), names))
    stored = store.get(1)
    assert stored is not None
    assert [stored.by] == [name for name, is_first in zip(names, first, strict=True) if is_first]


def test_without_a_key_no_secret_is_stored_and_none_is_read(wired: Wired, store: ConfigurationStore) -> None:
    keyless = ConfigurationStore(ledger.database(wired.mongo), Vault(()))
    assert keyless.seal({"settings": {}}, []) == ('{"settings": {}}', ())
    with pytest.raises(NotConfigured, match="WECHAT_BRIDGE_SECRET_KEYS"):
        keyless.seal(DOCUMENT, [SECRET])
    add(store, 1)
    stored = store.get(1)
    assert stored is not None
    with pytest.raises(NotConfigured, match="WECHAT_BRIDGE_SECRET_KEYS"):
        keyless.open(stored)


def test_what_a_newer_bridge_wrote_is_refused_and_says_so(store: ConfigurationStore) -> None:
    add(store, 1)
    store.collection.update_one({"number": 1}, {"$set": {"format": 2}})
    with pytest.raises(DocumentInvalid, match="format 2, this installation reads 1: upgrade it"):
        store.get(1)


@pytest.mark.parametrize("text", ['{"settings": {"engi', "[]", "", '{"settings": {}}', "[" * 100_000])
def test_a_text_that_is_none_of_ours_is_refused(store: ConfigurationStore, text: str) -> None:
    add(store, 1)
    store.collection.update_one({"number": 1}, {"$set": {"text": text}})
    stored = store.get(1)
    assert stored is not None
    with pytest.raises(SettingsError, match="version 1 of the configuration cannot be read"):
        store.open(stored)


def test_what_is_kept_in_redis_and_is_no_version_is_refused(wired: Wired) -> None:
    cache = ConfigurationCache(wired.redis)
    wired.redis.delete(redis_keys.CONFIGURATION)
    assert cache.get() is None
    wired.redis.set(redis_keys.CONFIGURATION, '{"number": ')
    with pytest.raises(DocumentInvalid):
        cache.get()
