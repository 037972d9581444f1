"""The ledger's clock: the server's time, carried on between measurements, whatever the clock of this host says."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from pymongo import MongoClient

from tests.support.together import together
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.local.ports import free_port
from wechat_bridge.store import ledger
from wechat_bridge.store.clock import LedgerClock, boot_seconds
from wechat_bridge.store.ledger import Document


def server_time(client: MongoClient[Document]) -> datetime:
    """What the server says it is, in UTC."""
    found: datetime = client.admin.command("hello")["localTime"]
    return found.replace(tzinfo=UTC)


def test_now_is_the_servers_time_in_utc_to_the_millisecond(urls: tuple[str, str]) -> None:
    with ledger.connect(urls[1]) as client:
        clock = LedgerClock(client)
        now = clock.now()
        server = server_time(client)
    assert now.tzinfo is UTC
    assert now.microsecond % 1000 == 0
    assert abs(server - now) < timedelta(seconds=2)


def test_a_wrong_clock_of_this_host_changes_nothing(urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with ledger.connect(urls[1]) as client:
        clock = LedgerClock(client)
        before = clock.now()
        monkeypatch.setattr(time, "time", lambda: 0.0)
        assert timedelta(0) <= clock.now() - before < timedelta(seconds=5)


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/Los_Angeles"])
def test_the_time_zone_of_this_host_changes_nothing(
    urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        with ledger.connect(urls[1]) as client:
            assert abs(LedgerClock(client).now() - server_time(client)) < timedelta(seconds=2)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_time_goes_on_without_asking_again(urls: tuple[str, str]) -> None:
    client = ledger.connect(urls[1])
    clock = LedgerClock(client)
    first = clock.now()
    client.close()
    began = boot_seconds()
    while boot_seconds() - began < 0.02:
        pass
    assert timedelta(milliseconds=19) <= clock.now() - first < timedelta(seconds=5)
    assert timedelta(seconds=59) < clock.after(60) - clock.now() <= timedelta(seconds=60)


def test_an_answer_that_took_long_does_not_move_the_clock(
    urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ledger.connect(urls[1]) as client:
        clock = LedgerClock(client)
        before = clock.now()
        moments = iter([boot_seconds() - 9.0])  # as if the question had been asked nine seconds ago
        monkeypatch.setattr("wechat_bridge.store.clock.boot_seconds", lambda: next(moments, None) or boot_seconds())
        clock.measure()
        monkeypatch.undo()
        assert timedelta(0) <= clock.now() - before < timedelta(seconds=3)


def test_many_threads_may_ask_first(urls: tuple[str, str]) -> None:
    with ledger.connect(urls[1]) as client:
        clock = LedgerClock(client)
        times = together(10, lambda _: clock.now())
    assert max(times) - min(times) < timedelta(seconds=5)


def test_a_server_that_was_never_reached_has_no_time() -> None:
    url = f"mongodb://127.0.0.1:{free_port()}/?serverSelectionTimeoutMS=100"
    with ledger.connect(url) as client, ledger.patience(0.2), pytest.raises(LedgerUnavailable, match="MongoDB"):
        LedgerClock(client).now()


def test_what_the_clock_says_survives_the_ledger(urls: tuple[str, str]) -> None:
    with ledger.connect(urls[1]) as client:
        now = LedgerClock(client).now()
        database = ledger.database(client)
        database["times"].insert_one({"_id": "now", "at": now})
        found = database["times"].find_one({"_id": "now"})
    assert found is not None
    assert found["at"] == now
    assert isinstance(found["at"], datetime)
