"""What is asked about turns that wait for an engine."""

from __future__ import annotations

from tests.store.big_ledger import BigLedger, turn
from tests.store.hot_queries import LEASE, Call, Case


def _engines_of(big: BigLedger, name: str) -> Call:
    return lambda: big.channels.engines_of([f"channel-{number}" for number in range(20)])


def _keep_quiet(big: BigLedger, name: str) -> Call:
    waiting = [turn(big.now, f"{name}-{number}") for number in range(10)]
    for each in waiting:
        big.turns.open(each)
    return lambda: big.turns.keep_quiet([each.id for each in waiting], big.after(LEASE))


HOT: dict[str, Case] = {
    "channels.engines_of": _engines_of,
    "turns.keep_quiet": _keep_quiet,
}
