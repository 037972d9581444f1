"""What errors and documents of MongoDB become on our side."""

from __future__ import annotations

import pytest
from pymongo.database import Database

from tests.store.documents import turn
from wechat_bridge.errors import DocumentInvalid, LedgerUnavailable
from wechat_bridge.local.ports import free_port
from wechat_bridge.model.turn import Turn
from wechat_bridge.store import ledger
from wechat_bridge.store.ledger import Document, from_document
from wechat_bridge.store.turns import TurnStore


def test_a_ledger_that_does_not_answer_is_unavailable_soon_and_shows_no_password() -> None:
    url = f"mongodb://bridge:hunter2@127.0.0.1:{free_port()}/wechat"
    with ledger.connect(url) as client, ledger.patience(0.3), pytest.raises(LedgerUnavailable) as refused:
        TurnStore(ledger.database(client)).get("x")
    assert "MongoDB" in str(refused.value)
    assert "TurnReads.get" in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_document_that_does_not_fit_is_named_with_its_field(database: Database[Document], share_id: str) -> None:
    turns = TurnStore(database)
    given = turn(share_id, 1)
    turns.open(given)
    turns.collection.update_one({"_id": given.id}, {"$set": {"state": "confused", "fence": "many"}})
    with pytest.raises(DocumentInvalid, match=f"processed_messages {given.id}: state, fence does not fit"):
        turns.get(given.id)


def test_fields_of_another_version_do_no_harm(database: Database[Document], share_id: str) -> None:
    turns = TurnStore(database)
    given = turn(share_id, 1)
    turns.open(given)
    turns.collection.update_one({"_id": given.id}, {"$set": {"field_of_tomorrow": 1}, "$unset": {"rings": ""}})
    assert turns.get(given.id) == given


def test_reading_a_document_does_not_change_it(database: Database[Document], share_id: str) -> None:
    document = {"_id": turn(share_id, 1).id, **turn(share_id, 1).model_dump(exclude={"id"})}
    before = dict(document)
    from_document(Turn, database["processed_messages"], document)
    assert document == before


def test_writes_are_journalled_by_a_majority(database: Database[Document]) -> None:
    assert database["inbox"].write_concern.document == {"w": "majority", "j": True}
