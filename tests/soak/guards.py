"""The guards that can be switched off, one at a time, and the runs that aim at each."""

from __future__ import annotations

from dataclasses import replace

from tests.soak.plan import Plan

GUARDS: dict[str, dict[str, object]] = {
    "link": {},
    "claim": {},
    "fence": {"engine_seconds": 1.5},
    "one-open-turn": {},
    "client-id": {},
    "generation": {"hold_seconds": 0.5, "empty_poll_delay_seconds": 8.0},
}
"""By name, what a run aimed at the guard changes of the plan."""


def plan_for(plan: Plan) -> Plan:
    """Return the plan of a run without its guard."""
    return replace(plan, **GUARDS[plan.without])  # type: ignore[arg-type]
