"""Connecting to MongoDB, and what its documents and errors become on our side."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, ParamSpec, TypeVar

import pymongo
from pydantic import BaseModel, ValidationError
from pymongo import MongoClient, WriteConcern
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.errors import AutoReconnect, DuplicateKeyError, PyMongoError

from wechat_bridge.errors import DocumentInvalid, LedgerUnavailable

Document = dict[str, Any]
DEFAULT_DATABASE = "wechat_bridge"
DURABLE = WriteConcern(w="majority", j=True)

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
"""Before every time in the ledger. Ranges of times start here: without a lower bound, a server that sorts null before
times in its comparisons (SecantusDB 0.7) walks through every document that has no time at all."""

IDS_AT_ONCE = 100

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M", bound=BaseModel)


def connect(url: str, *, pool_size: int = 50, app_name: str = "wechat-bridge") -> MongoClient[Document]:
    """Return a client that connects on first use, within 5 s, and waits at most 10 s for an answer."""
    return MongoClient(
        url,
        appname=app_name,
        tz_aware=True,
        maxPoolSize=pool_size,
        serverSelectionTimeoutMS=5_000,
        connectTimeoutMS=5_000,
        socketTimeoutMS=10_000,
        waitQueueTimeoutMS=10_000,
    )


def database(client: MongoClient[Document]) -> Database[Document]:
    """Return the database named in the URL, with acknowledged, journalled writes."""
    return client.get_default_database(DEFAULT_DATABASE).with_options(write_concern=DURABLE)


def ledger_call(function: Callable[P, R]) -> Callable[P, R]:
    """Turn the driver's errors into LedgerUnavailable, so that the flow need not know the driver."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except PyMongoError as error:
            raise LedgerUnavailable(f"MongoDB: {type(error).__name__} in {function.__qualname__}") from error

    return call


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Let every ledger call of this thread within the block fail after ``seconds`` in all, connecting included."""
    with pymongo.timeout(seconds):
        yield


def update_claim(collection: Collection[Document], query: Document, changes: Document) -> None:
    """Write a claim, once more if the connection broke: whether the first try counted, its token tells when read."""
    try:
        collection.update_one(query, changes)
    except AutoReconnect:
        collection.update_one(query, changes)


def insert_ours(collection: Collection[Document], document: Document, told_by: Sequence[str]) -> None:
    """Insert a document, once more if the connection broke. Raises DuplicateKeyError.

    Whether the first try counted the second one tells: it meets the document of this id that has the same values in
    the fields ``told_by``, which is success.
    """
    try:
        collection.insert_one(document)
    except AutoReconnect:
        try:
            collection.insert_one(document)
        except DuplicateKeyError:
            if collection.find_one({name: document[name] for name in ("_id", *told_by)}) is None:
                raise


def in_parts(ids: Iterable[str]) -> Iterator[list[str]]:
    """Cut a list for ``$in`` into parts: SecantusDB 0.7 takes 14 ms for 100 ids and 3.4 s for 2,000."""
    given = list(ids)
    for first in range(0, len(given), IDS_AT_ONCE):
        yield given[first : first + IDS_AT_ONCE]


def to_document(model: BaseModel) -> Document:
    """Return the document of a model; its ``id`` is MongoDB's ``_id``."""
    document = model.model_dump()
    document["_id"] = document.pop("id")
    return document


def from_document(model: type[M], collection: Collection[Document], document: Mapping[str, Any]) -> M:
    """Return the model of a document. Raises DocumentInvalid naming collection, id and field."""
    fields = dict(document)
    fields["id"] = fields.pop("_id")
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        where = ", ".join(".".join(map(str, row["loc"])) for row in error.errors())
        raise DocumentInvalid(f"{collection.name} {fields['id']}: {where} does not fit") from None
