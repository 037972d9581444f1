"""Bringing a ledger into shape: by several processes at once, refusing what cannot work and saying why."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from pymongo.database import Database

from tests.store.documents import turn
from tests.support.together import together
from wechat_bridge.errors import IndexNotBuilt, LedgerTooNew
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.turn import Lane
from wechat_bridge.store import ledger, schema
from wechat_bridge.store.ledger import Document, to_document
from wechat_bridge.store.turns import Opening, TurnStore

_numbers = count(1)


@pytest.fixture
def empty(urls: tuple[str, str]) -> Iterator[Database[Document]]:
    """A ledger in which there is nothing at all."""
    with ledger.connect(urls[1]) as client:
        yield client[f"schema_{next(_numbers)}"].with_options(write_concern=ledger.DURABLE)


def test_every_index_is_built_and_building_again_changes_nothing(empty: Database[Document]) -> None:
    schema.prepare(empty)
    before = {name: set(empty[name].index_information()) for name in schema.INDEXES}
    schema.prepare(empty)
    for name, indexes in schema.INDEXES.items():
        assert {index.document["name"] for index in indexes} <= before[name]
        assert set(empty[name].index_information()) == before[name]


def test_eight_processes_that_start_at_once_all_start(empty: Database[Document]) -> None:
    together(8, lambda _: schema.prepare(empty))
    assert empty["settings"].count_documents({}) == 1


def test_a_ledger_of_a_newer_version_is_refused(empty: Database[Document]) -> None:
    schema.prepare(empty)
    empty["settings"].update_one({"_id": "schema"}, {"$set": {"version": schema.VERSION + 1}})
    with pytest.raises(LedgerTooNew, match=f"version {schema.VERSION + 1}.*upgrade"):
        schema.prepare(empty)


def test_an_older_ledger_is_brought_to_this_version_with_its_turns(empty: Database[Document]) -> None:
    """Version 1 knew no lanes, and one open turn in a conversation."""
    old = {name: value for name, value in to_document(turn("shop", 1)).items() if name != "lane"}
    empty["processed_messages"].insert_one(old)
    empty["processed_messages"].create_index("chat_id", name="one_open_turn", unique=True)
    empty["settings"].insert_one({"_id": "schema", "version": 1})
    together(4, lambda _: schema.prepare(empty))
    assert empty["settings"].find_one({"_id": "schema"}) == {"_id": "schema", "version": schema.VERSION}
    assert TurnStore(empty).open_of(turn("shop", 1).chat_id) == turn("shop", 1)
    command = turn("shop", 2, lane=Lane.COMMAND)
    assert TurnStore(empty).open(command) is Opening.OPENED
    assert TurnStore(empty).open(turn("shop", 3)) is Opening.BUSY


def test_two_open_turns_of_a_conversation_stop_the_start_and_are_named(empty: Database[Document]) -> None:
    for number in (1, 2):
        empty["processed_messages"].insert_one(to_document(turn("shop", number)))
    empty["processed_messages"].insert_one(to_document(turn("other", 3)))
    with pytest.raises(IndexNotBuilt) as refused:
        schema.prepare(empty)
    said = str(refused.value)
    assert "processed_messages" in said
    assert all(part in said for part in ("wechat_shop_ann", turn("shop", 1).id, turn("shop", 2).id))
    assert "wechat_other_ann" not in said


def test_two_online_channels_of_an_account_stop_the_start_and_are_named(empty: Database[Document]) -> None:
    for share_id in ("shop-a", "shop-b"):
        channel = to_document(Channel(id=share_id, owner_user_id="one person")) | {"status": "online"}
        empty["channels"].insert_one(channel)
    with pytest.raises(IndexNotBuilt) as refused:
        schema.prepare(empty)
    assert all(part in str(refused.value) for part in ("channels", "shop-a", "shop-b"))


def test_once_the_offenders_are_gone_the_start_succeeds(empty: Database[Document]) -> None:
    for number in (1, 2):
        empty["processed_messages"].insert_one(to_document(turn("shop", number)))
    with pytest.raises(IndexNotBuilt):
        schema.prepare(empty)
    empty["processed_messages"].update_one({"_id": turn("shop", 1).id}, {"$set": {"open": False}})
    schema.prepare(empty)
    assert "one_open_turn" in empty["processed_messages"].index_information()
