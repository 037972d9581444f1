"""How far an account was read: one pull at a time moves it, and a doorbell is never forgotten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pymongo.database import Database

from tests.support.together import together
from wechat_bridge.store.customer_service import CustomerServiceStore
from wechat_bridge.store.ledger import Document

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)


@pytest.fixture
def services(database: Database[Document], share_id: str) -> CustomerServiceStore:
    """A store with one account, named like its channel."""
    store = CustomerServiceStore(database)
    store.add(share_id, share_id, NOW)
    return store


def test_a_new_account_is_due_and_begins_at_the_beginning(services: CustomerServiceStore, share_id: str) -> None:
    service = services.get(share_id)
    assert service is not None
    assert (service.cursor, service.generation, service.due_at) == ("", 0, NOW)
    assert share_id in {each.id for each in services.due(NOW)}


def test_an_account_that_is_added_again_goes_on_where_it_was(services: CustomerServiceStore, share_id: str) -> None:
    taken = services.take(share_id, 0)
    assert taken is not None
    services.move(taken, "c1")
    services.end(share_id)
    assert share_id not in {each.id for each in services.due(LATER)}
    services.add(share_id, "another", LATER)
    again = services.get(share_id)
    assert again is not None
    assert (again.cursor, again.share_id, again.due_at) == ("c1", "another", LATER)


def test_of_many_pulls_at_once_one_begins(services: CustomerServiceStore, share_id: str) -> None:
    taken = together(8, lambda _: services.take(share_id, 0))
    assert len([each for each in taken if each is not None]) == 1


def test_an_earlier_pull_moves_and_ends_nothing(services: CustomerServiceStore, share_id: str) -> None:
    early, late = services.take(share_id, 0), services.take(share_id, 1)
    assert early is not None
    assert late is not None
    assert services.move(late, "new")
    assert not services.move(early, "old")
    assert not services.finish(early, LATER)
    services.postpone(early, LATER, 7)
    service = services.get(share_id)
    assert service is not None
    assert (service.cursor, service.due_at, service.failures) == ("new", NOW, 0)


def test_a_pull_ends_only_for_the_doorbells_that_it_knew(services: CustomerServiceStore, share_id: str) -> None:
    service = services.take(share_id, 0)
    assert service is not None
    assert services.rang(share_id, NOW, "sealed") == share_id
    assert not services.finish(service, LATER)
    rung = services.take(share_id, 1)
    assert rung is not None
    assert (rung.doorbells, rung.event_token, rung.event_token_at) == (1, "sealed", NOW)
    assert services.finish(rung, LATER)
    assert share_id not in {each.id for each in services.due(NOW)}


def test_a_doorbell_for_an_account_that_nobody_reads_is_nobodys(services: CustomerServiceStore, share_id: str) -> None:
    assert services.rang("corp:stranger", NOW, None) is None
    services.end(share_id)
    assert services.rang(share_id, NOW, None) is None


def test_only_the_token_that_was_not_taken_is_forgotten(services: CustomerServiceStore, share_id: str) -> None:
    services.rang(share_id, NOW, "first")
    service = services.take(share_id, 0)
    assert service is not None
    services.rang(share_id, NOW, "second")
    services.forget_token(service)
    kept = services.get(share_id)
    assert kept is not None
    assert kept.event_token == "second"
    services.forget_token(kept)
    gone = services.get(share_id)
    assert gone is not None
    assert gone.event_token is None
