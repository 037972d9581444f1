"""The ledger does not slow down as it grows: every hot query, with 200 and with 20,000 documents a collection."""

from __future__ import annotations

import gc
import secrets
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import count
from urllib.parse import urlsplit

import pytest

from tests.store import (
    hot_access,
    hot_engines,
    hot_event_versions,
    hot_events,
    hot_holds,
    hot_media,
    hot_queries,
    hot_services,
)
from tests.store.big_ledger import BigLedger
from tests.store.hot_queries import Case

pytestmark = pytest.mark.slow

SMALL, BIG = 200, 20_000
MOST_TIMES_SLOWER = 3
NOISE_MS = 3.0
"""Differences below this are the machine's, not the query's; walking 20,000 documents takes a hundred times as long."""

HOT = (
    hot_queries.HOT | hot_access.HOT | hot_engines.HOT | hot_holds.HOT | hot_media.HOT | hot_services.HOT
    | hot_event_versions.HOT
    | hot_events.HOT
)  # fmt: skip
RARE = hot_queries.RARE | hot_access.RARE | hot_services.RARE | hot_events.RARE

RUNS = 7
TRIES = 2
"""A machine that is busy with something else spoils one measurement, not two."""

_names = count()


@pytest.fixture(scope="module")
def ledgers(mongodb_url: str) -> Iterator[tuple[BigLedger, BigLedger]]:
    """A small and a big ledger on the same server; removing them would take as long as filling them."""
    address, run = urlsplit(mongodb_url), secrets.token_hex(4)
    built = [BigLedger.build(address._replace(path=f"/hot_{run}_{size}").geturl(), size) for size in (SMALL, BIG)]
    yield built[0], built[1]
    for ledger in built:
        ledger.client.close()


@pytest.mark.parametrize("name", HOT)
def test_a_hundred_times_the_documents_do_not_slow_a_query_threefold(
    ledgers: tuple[BigLedger, BigLedger], name: str
) -> None:
    for _ in range(TRIES):
        small_ms, big_ms = _measure(ledgers, HOT[name])
        if big_ms <= MOST_TIMES_SLOWER * small_ms + NOISE_MS:
            break
    assert big_ms <= MOST_TIMES_SLOWER * small_ms + NOISE_MS, (
        f"{name} takes {small_ms:.1f} ms with {SMALL} documents and {big_ms:.1f} ms with {BIG}: "
        "it walks through finished work; give it an index range with two ends, or an equality"
    )


def test_the_measurement_notices_a_query_that_walks_the_collection(ledgers: tuple[BigLedger, BigLedger]) -> None:
    def unindexed(big: BigLedger, _: str) -> Callable[[], object]:
        return lambda: list(big.inbox.collection.find({"raw": "none has this"}))

    small_ms, big_ms = _measure(ledgers, unindexed)
    assert big_ms > MOST_TIMES_SLOWER * small_ms + NOISE_MS


def test_every_query_of_the_stores_is_measured_or_named_as_rare() -> None:
    measured = {name.split(",")[0] for name in HOT}
    assert _public_methods() == measured | RARE


def _public_methods() -> set[str]:
    return {
        f"{field}.{method}"
        for field, store in BigLedger.stores().items()
        for part in store.__mro__[:-1]
        for method in vars(part)
        if not method.startswith("_")
    }


def _measure(ledgers: tuple[BigLedger, BigLedger], case: Case) -> tuple[float, float]:
    """Return the median of both sizes in ms, measured in turns so that both meet the same machine."""
    times: tuple[list[float], list[float]] = ([], [])
    gc.disable()
    try:
        for _ in range(RUNS):
            for ledger, found in zip(ledgers, times, strict=True):
                call = case(ledger, f"case-{next(_names)}")
                started = time.perf_counter()
                call()
                found.append((time.perf_counter() - started) * 1000)
    finally:
        gc.enable()
    return statistics.median(times[0]), statistics.median(times[1])
