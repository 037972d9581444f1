"""What events with versions ask, and the sweep that forgets old ones."""

from __future__ import annotations

from tests.store.big_ledger import BigLedger
from tests.store.hot_queries import Call, Case


def _newer(big: BigLedger, name: str) -> Call:
    return lambda: big.event_versions.newer(name, "1")


def _stale(big: BigLedger, name: str) -> Call:
    big.event_versions.newer(name, "2")
    return lambda: big.event_versions.newer(name, "1")


def _forget(big: BigLedger, _: str) -> Call:
    return lambda: big.event_versions.forget(big.after(-3_600))


HOT: dict[str, Case] = {
    "event_versions.newer": _newer,
    "event_versions.newer, stale": _stale,
    "event_versions.forget": _forget,
}
