"""Which processes are alive, by the server's clock."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest
from pymongo.database import Database

from tests.store.documents import NOW
from wechat_bridge.model.worker import Worker
from wechat_bridge.store.ledger import Document
from wechat_bridge.store.workers import WorkerStore


@pytest.fixture
def workers(database: Database[Document]) -> WorkerStore:
    """The store under test, without processes."""
    store = WorkerStore(database)
    store.collection.delete_many({})
    return store


def worker(owner: str) -> Worker:
    """A process that was last seen at NOW."""
    return Worker(id=owner, kind="worker", queues=("poll",), slots=10, seen_at=NOW, started_at=NOW, version="1")


def test_a_process_is_announced_and_announcing_again_replaces(workers: WorkerStore) -> None:
    workers.announce(worker("host:1:a"))
    changed = worker("host:1:a").model_copy(update={"slots": 20})
    workers.announce(changed)
    assert workers.all() == [changed]


def test_being_seen_is_written_with_the_servers_time(workers: WorkerStore, database: Database[Document]) -> None:
    workers.announce(worker("host:1:a"))
    assert workers.seen("host:1:a")
    server = database.client.admin.command("hello")["localTime"].replace(tzinfo=UTC)
    assert abs(server - workers.all()[0].seen_at) < timedelta(seconds=2)


def test_a_process_whose_document_is_gone_learns_it(workers: WorkerStore) -> None:
    assert not workers.seen("host:1:a")
    assert workers.all() == []


def test_who_leaves_counts_as_not_seen_since_and_is_forgotten_later(workers: WorkerStore) -> None:
    workers.announce(worker("host:1:a"))
    workers.announce(worker("host:2:b"))
    workers.leave("host:1:a", NOW - timedelta(seconds=16))
    assert {each.id: each.seen_at for each in workers.all()}["host:1:a"] == NOW - timedelta(seconds=16)
    workers.forget(NOW - timedelta(seconds=5))
    assert [each.id for each in workers.all()] == ["host:2:b"]
