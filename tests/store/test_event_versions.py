"""The newest version of each subject, in the ledger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import cast

import pytest
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from tests.support.together import together
from wechat_bridge.store.event_versions import MOST, EventVersionStore
from wechat_bridge.store.ledger import LONG_AGO, Document


def note(versions: EventVersionStore, subject: str, number: int) -> bool:
    return versions.newer(subject, str(number))


@pytest.fixture
def versions(database: Database[Document]) -> EventVersionStore:
    return EventVersionStore(database)


def test_c9_a_version_is_noted_unless_a_newer_one_was(versions: EventVersionStore, share_id: str) -> None:
    assert [versions.newer(share_id, version) for version in ("b", "a", "b", "c", "b")] == [
        True, False, True, True, False,
    ]  # fmt: skip
    found = versions.collection.find_one({"_id": share_id})
    assert found is not None
    assert found["version"] == "c"
    assert abs(found["at"] - datetime.now(UTC)) < timedelta(minutes=1)


def test_c9_when_many_begin_at_once_the_newest_is_never_taken_for_an_old_one(
    versions: EventVersionStore, share_id: str
) -> None:
    for subject in [f"{share_id}-{turn}" for turn in range(10)]:
        found = together(8, partial(note, versions, subject))
        assert found[7]
        document = versions.collection.find_one({"_id": subject})
        assert document is not None
        assert document["version"] == "7"


def test_c9_who_loses_the_race_for_the_first_note_is_not_old_for_that(
    versions: EventVersionStore, share_id: str
) -> None:
    class Racing:
        """Between its look and its insert another process notes version 3: what a MongoDB answers then."""

        def update_one(self, query: Document, changes: Document, upsert: bool = False) -> object:
            if upsert:
                found.insert_one({"_id": share_id, "version": "3"})
                raise DuplicateKeyError("E11000")
            return found.update_one(query, changes)

    found = versions.collection
    versions.collection = cast("Collection[Document]", Racing())
    assert versions.newer(share_id, "4")
    found.delete_one({"_id": share_id})
    assert not versions.newer(share_id, "2")


def test_what_is_old_is_forgotten_in_parts(versions: EventVersionStore, share_id: str) -> None:
    versions.collection.delete_many({})
    old = LONG_AGO + timedelta(days=1)
    versions.collection.insert_many([{"_id": f"old-{n}", "version": "1", "at": old} for n in range(MOST + 7)])
    versions.newer(share_id, "1")
    assert [versions.forget(old + timedelta(days=1)) for _ in range(3)] == [MOST, 7, 0]
    assert versions.collection.count_documents({}) == 1
    assert not versions.newer(share_id, "0")
