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

WORKER_KINDS = ("poll", "reply", "ops", "beat", "web")
COPIES = 2
PROCESS_FAULTS = ("kill", "terminate", "freeze")
REDIS_FAULTS = ("redis restart", "redis flush")
MONGO_FAULTS = ("mongo pause", "mongo restart", "both away")
SEND_FAULTS = ("send HTTP 500", "send refused", "send cut before", "send cut after")
WECHAT_FAULTS = ("message redelivered", "messages reordered", *SEND_FAULTS)
DOORBELL_FAULTS = ("doorbells doubled",)
CALLBACK_FAULTS = ("callback repeated", "callbacks reordered", "callback lost")
PULL_FAULTS = ("pull refused", "pull cut", "pull killed")
CALL_FAULTS = ("WeCom busy", "WeCom cut before", "WeCom cut after", "WeCom too many at once", "token expired")
QUOTA_FAULTS = ("WeCom quota used up",)
MET_FAULTS = (*SEND_FAULTS, *PULL_FAULTS, *CALL_FAULTS, *QUOTA_FAULTS)
"""Kinds that are faults only once a call has met them."""

WECOM_FAULTS = (*CALLBACK_FAULTS, *PULL_FAULTS, *CALL_FAULTS, *QUOTA_FAULTS)

FEWER = {
    "both away": 2,
    "WeCom quota used up": 2,
    "pull refused": 3,
    "pull cut": 3,
    **{f"{fault} web": 3 for fault in PROCESS_FAULTS},
}
"""How often the costly kinds happen in a round: somebody is not served for seconds, or a minute, after each."""

RESTING_FAULTS = ("send refused", *QUOTA_FAULTS)
REST_SECONDS = 65.0
"""An account or app is quiet for a minute after one of these, so that it happens no later than this before the end."""


def all_kinds() -> list[str]:
    """Return the name of every kind of fault."""
    processes = [f"{fault} {kind}" for kind in WORKER_KINDS for fault in PROCESS_FAULTS]
    servers = [*REDIS_FAULTS, *MONGO_FAULTS]
    return [*processes, *servers, *WECHAT_FAULTS, *DOORBELL_FAULTS, *WECOM_FAULTS]


@dataclass(frozen=True)
class Fault:
    """One fault of the schedule: when (seconds from the start), which kind, and how long where it lasts."""

    at: float
    kind: str
    seconds: float


@dataclass(frozen=True)
class Plan:
    """One run, on channels of personal accounts, on apps of WeCom and on accounts of its customer service.

    ``only`` says how often which kinds of faults happen, for runs that aim at one guard.
    """

    messages: int = 600
    seed: int = 1
    cursor: Literal["strict", "redeliver"] = "redeliver"
    channels: int = 6
    apps: int = 3
    accounts: int = 3
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
        return round(FEWER.get(kind, FAULTS_PER_ROUND) * self.seconds / ROUND_SECONDS)


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
    until = max(plan.seconds - REST_SECONDS, plan.seconds / 2)
    found["rests"] = list(_spread(rng, plan, _shuffled(rng, plan, RESTING_FAULTS), until))
    return found


def _other_lanes() -> dict[str, tuple[str, ...]]:
    return {
        "redis": REDIS_FAULTS,
        "mongo": MONGO_FAULTS,
        "wechat": tuple(kind for kind in WECHAT_FAULTS if kind not in RESTING_FAULTS),
        "doorbells": DOORBELL_FAULTS,
        "callbacks": CALLBACK_FAULTS,
        "pulls": PULL_FAULTS,
        "calls": CALL_FAULTS,
    }


def _shuffled(rng: random.Random, plan: Plan, kinds: tuple[str, ...] | list[str]) -> list[str]:
    faults = [kind for kind in kinds for _ in range(plan.times(kind))]
    rng.shuffle(faults)
    return faults


def _spread(rng: random.Random, plan: Plan, kinds: list[str], until: float | None = None) -> Iterator[Fault]:
    step = (plan.seconds if until is None else until) / max(1, len(kinds))
    for number, kind in enumerate(kinds):
        yield Fault((number + rng.uniform(0.05, 0.95)) * step, kind, rng.uniform(*_lengths(plan, kind)))


def _lengths(plan: Plan, kind: str) -> tuple[float, float]:
    """Return the shortest and longest time a fault lasts: out of action, or until the replacement is started."""
    if kind.startswith("freeze"):
        return plan.freeze_seconds
    if kind == "mongo pause":
        return 4.5, 8.0
    if kind == "both away":
        return 4.5, 5.5
    return (1.0, 4.0) if kind in {"redis restart", "mongo restart"} else (0.3, 2.0)
