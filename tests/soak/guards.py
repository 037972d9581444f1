"""The guards that can be switched off, one at a time, and the short runs that aim at each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.soak.plan import Plan

LONG_FREEZE = (18.0, 20.0)
"""Longer than it takes to notice a frozen process (8 s), for the sweep to come by (5 s), and to do its work again."""

SHORT: dict[str, Any] = {
    "messages": 240,
    "channels": 10,
    "apps": 0,
    "accounts": 0,
    "least_seconds": 60.0,
    "drain_seconds": 45.0,
}

GUARDS: dict[str, dict[str, Any]] = {
    # Locks are flushed while links are served, and old doorbells ring: only the compare-and-set is left.
    "link": {"only": {"redis flush": 20, "doorbells doubled": 20}},
    "claim": {"only": {"doorbells doubled": 10, "send HTTP 500": 5}},
    # A worker wakes from a freeze in the middle of an engine call that another one has long repeated.
    "fence": {"only": {"freeze reply": 6}, "engine_seconds": 3.0, "freeze_seconds": LONG_FREEZE, "least_seconds": 75.0},
    # Answers that are retried are overtaken by the answers to later messages.
    "one-open-turn": {"only": {"send HTTP 500": 8, "send cut before": 8}, "engine_seconds": 1.0, "users": 8},
    "client-id": {"only": {"send cut after": 10, "kill reply": 4}},
    # A poll that was open when its process froze is written down between two links of others.
    "generation": {
        "only": {"freeze poll": 8},
        "empty_poll_delay_seconds": 8.0,
        "freeze_seconds": LONG_FREEZE,
        "least_seconds": 90.0,
    },
    # WeCom compares whole requests, customer service looks at the msgid: both hold back what was accepted before.
    "duplicate-check": {"only": {"WeCom cut after": 10}, "channels": 2, "apps": 5, "accounts": 3},
    # A callback is answered as if it had been kept, while the ledger is away.
    "kept": {"only": {"mongo pause": 6}, "channels": 2, "apps": 6},
}
"""By name, what a run aimed at the guard changes of the plan."""


def plan_for(plan: Plan, guard: str) -> Plan:
    """Return the plan of the run that aims at a guard; it is green as long as the guard is on."""
    return replace(plan, **SHORT | GUARDS[guard])
