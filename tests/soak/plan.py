"""What one run does: how many messages, and which faults when. The same seed gives the same schedule."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

ROUND_SECONDS = 130.0
"""In every round of this length each kind of fault happens FAULTS_PER_ROUND times."""

FAULTS_PER_ROUND = 5
MESSAGES_PER_SECOND = 10.0
"""What two cores carry next to all the restarts; a short run writes more slowly, so that it lasts one round."""

WORKER_KINDS = ("poll", "reply", "ops", "beat")
COPIES = 2
PROCESS_FAULTS = ("kill", "terminate", "freeze")
REDIS_FAULTS = ("redis restart", "redis flush")
MONGO_FAULTS = ("mongo pause", "mongo restart")
SEND_FAULTS = ("send HTTP 500", "send refused", "send cut before", "send cut after")
WECHAT_FAULTS = ("message redelivered", "messages reordered", *SEND_FAULTS)
DOORBELL_FAULTS = ("doorbells doubled",)


def all_kinds() -> list[str]:
    """Return the name of every kind of fault."""
    processes = [f"{fault} {kind}" for kind in WORKER_KINDS for fault in PROCESS_FAULTS]
    return [*processes, *REDIS_FAULTS, *MONGO_FAULTS, *WECHAT_FAULTS, *DOORBELL_FAULTS]


@dataclass(frozen=True)
class Fault:
    """One fault of the schedule: when (seconds from the start), which kind, and how long where it lasts."""

    at: float
    kind: str
    seconds: float


@dataclass(frozen=True)
class Plan:
    """One run. ``only`` says how often which kinds of faults happen, for runs that aim at one guard."""

    messages: int = 600
    seed: int = 1
    cursor: Literal["strict", "redeliver"] = "redeliver"
    channels: int = 10
    users: int = 40
    without: str = ""
    hold_seconds: float = 3.0
    empty_poll_delay_seconds: float = 2.0
    engine_seconds: float = 0.2
    drain_seconds: float = 240.0
    least_seconds: float = ROUND_SECONDS
    freeze_seconds: tuple[float, float] = (12.0, 14.0)
    only: Mapping[str, int] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long messages are written and faults injected."""
        return max(self.least_seconds, self.messages / MESSAGES_PER_SECOND)

    def times(self, kind: str) -> int:
        """Return how often a kind of fault is injected."""
        if self.only:
            return self.only.get(kind, 0)
        return round(FAULTS_PER_ROUND * self.seconds / ROUND_SECONDS)


def lanes(plan: Plan) -> dict[str, list[Fault]]:
    """Return the schedule: for each lane its faults in order. Lanes run at once, the faults of one never overlap."""
    rng = random.Random(plan.seed)
    found: dict[str, list[Fault]] = {}
    for kind in WORKER_KINDS:
        faults = _shuffled(rng, plan, [f"{fault} {kind}" for fault in PROCESS_FAULTS])
        for copy in range(COPIES):
            found[f"{kind}-{copy + 1}"] = list(_spread(rng, plan, faults[copy::COPIES]))
    for name, kinds in _other_lanes().items():
        found[name] = list(_spread(rng, plan, _shuffled(rng, plan, kinds)))
    return found


def _other_lanes() -> dict[str, tuple[str, ...]]:
    return {"redis": REDIS_FAULTS, "mongo": MONGO_FAULTS, "wechat": WECHAT_FAULTS, "doorbells": DOORBELL_FAULTS}


def _shuffled(rng: random.Random, plan: Plan, kinds: tuple[str, ...] | list[str]) -> list[str]:
    faults = [kind for kind in kinds for _ in range(plan.times(kind))]
    rng.shuffle(faults)
    return faults


def _spread(rng: random.Random, plan: Plan, kinds: list[str]) -> Iterator[Fault]:
    step = plan.seconds / max(1, len(kinds))
    for number, kind in enumerate(kinds):
        yield Fault((number + rng.uniform(0.05, 0.95)) * step, kind, rng.uniform(*_lengths(plan, kind)))


def _lengths(plan: Plan, kind: str) -> tuple[float, float]:
    """Return the shortest and longest time a fault lasts: out of action, or until the replacement is started."""
    if kind.startswith("freeze"):
        return plan.freeze_seconds
    if kind == "mongo pause":
        return 3.0, 8.0
    return (1.0, 4.0) if kind in {"redis restart", "mongo restart"} else (0.3, 2.0)
