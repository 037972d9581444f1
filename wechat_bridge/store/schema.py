"""Bring the ledger into shape: indexes, and the version of its documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pymongo import IndexModel
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError, OperationFailure

from wechat_bridge.errors import IndexNotBuilt, LedgerTooNew
from wechat_bridge.store import (
    blobs,
    channels,
    configuration,
    conversations,
    customer_service,
    dead_letters,
    event_versions,
    event_windows,
    events,
    inbox,
    media,
    turns,
    workers,
)
from wechat_bridge.store.ledger import Document, ledger_call

VERSION = 2
"""2: turns have a lane, and one is open in each lane of a conversation."""

INDEXES = {
    "channels": channels.INDEXES,
    "inbox": inbox.INDEXES,
    "processed_messages": turns.INDEXES,
    "conversations": conversations.INDEXES,
    "customer_service": customer_service.INDEXES,
    "dead_letters": dead_letters.INDEXES,
    "workers": workers.INDEXES,
    "events": events.INDEXES,
    "event_windows": event_windows.INDEXES,
    "event_versions": event_versions.INDEXES,
    "media": media.INDEXES,
    "settings": configuration.INDEXES,
    blobs.CHUNKS: blobs.INDEXES,
}

SAMPLE = 5
INDEX_NOT_FOUND = 27


@ledger_call
def prepare(database: Database[Document]) -> None:
    """Build what is missing. Raises LedgerTooNew, IndexNotBuilt (naming the keys in the way) and LedgerUnavailable."""
    _migrate(database, _version(database))
    for name, indexes in INDEXES.items():
        try:
            database[name].create_indexes(indexes)
        except (DuplicateKeyError, OperationFailure) as error:
            raise IndexNotBuilt(f"collection {name}: {_reason(error)}{_offenders(database[name], indexes)}") from None


def _version(database: Database[Document]) -> int:
    """Return the version of the ledger, a new one's being this installation's. Raises LedgerTooNew."""
    database["settings"].update_one({"_id": "schema"}, {"$setOnInsert": {"version": VERSION}}, upsert=True)
    found = database["settings"].find_one({"_id": "schema"}) or {}
    if found.get("version", VERSION) > VERSION:
        raise LedgerTooNew(
            f"the ledger has schema version {found['version']}, this installation knows {VERSION}: upgrade it"
        )
    return int(found.get("version", VERSION))


def _migrate(database: Database[Document], version: int) -> None:
    """Bring an older ledger to this version. Each step may be done twice, by two processes that start at once."""
    if version < 2:
        turns_of = database["processed_messages"]
        turns_of.update_many({"lane": {"$exists": False}}, {"$set": {"lane": "talk"}})
        if "lane" not in dict(turns_of.index_information().get("one_open_turn", {}).get("key", [])):
            _drop_index(turns_of, "one_open_turn")
        database["settings"].update_one({"_id": "schema"}, {"$max": {"version": VERSION}})


def _drop_index(collection: Collection[Document], name: str) -> None:
    try:
        collection.drop_index(name)
    except OperationFailure as error:
        if error.code != INDEX_NOT_FOUND:  # another process was quicker
            raise


def _reason(error: OperationFailure) -> str:
    return str((error.details or {}).get("errmsg", error))


def _offenders(collection: Collection[Document], indexes: Sequence[IndexModel]) -> str:
    """Name documents that share a key which should be unique: the one way in which building an index of ours fails."""
    unique = [index.document for index in indexes if index.document.get("unique")]
    found = [line for document in unique for line in _shared_keys(collection, document)]
    return "; " + "; ".join(found) + "; only one of each may be so" if found else ""


def _shared_keys(collection: Collection[Document], index: Mapping[str, Any]) -> list[str]:
    key = {field: f"${field}" for field in index["key"]}
    pipeline: list[Document] = [
        {"$match": index.get("partialFilterExpression", {})},
        {"$group": {"_id": key, "ids": {"$push": "$_id"}, "n": {"$sum": 1}}},
        {"$match": {"n": {"$gt": 1}}},
        {"$limit": SAMPLE},
    ]
    return [
        f"{index['name']}: {', '.join(row['ids'])} have the same {' and '.join(map(str, row['_id'].values()))}"
        for row in collection.aggregate(pipeline)
    ]
