"""Who stores an event just now, and which events are stored: in Redis, in front of the ledger, which is what holds.

The key of an event is its name in Redis. Times are Redis's own, so clocks of workers do not matter. Each call is one
round trip for any number of events, and ends within the seconds it is given, whatever Redis does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import cast

from wechat_bridge.store.broker import RedisClient, broker_call, script
from wechat_bridge.store.time_limit import time_limit

DONE = "done:"


class ClaimState(StrEnum):
    """What Redis knows of an event."""

    NEW = "new"  # nothing; it is claimed by the caller now
    IN_FLIGHT = "in_flight"  # somebody else stores it at this moment, or died while doing so
    DONE = "done"  # it was stored


@dataclass(frozen=True)
class Claimed:
    """The answer to one claim; ``event_id`` is the event that was stored, where one was."""

    state: ClaimState
    event_id: str = ""


@dataclass(frozen=True)
class Stored:
    """An event that was stored under a claim; repeats are known for ``lifetime_ms`` from now."""

    key: str
    token: str
    event_id: str
    lifetime_ms: int


class EventClaims:
    """Takes a client of ``broker.connect_limited``. Every method raises BrokerUnavailable within its time."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client
        self._claim = script(client, "event_claim")
        self._commit = script(client, "event_commit")
        self._drop = script(client, "event_drop")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    @broker_call
    def claim(self, keys: Sequence[str], token: str, claim_seconds: float, within_seconds: float) -> list[Claimed]:
        """Claim each event for ``claim_seconds`` unless it is known; one that comes twice here is in flight then."""
        with time_limit(within_seconds):
            found = self._claim(keys=keys, args=[_claim(token), int(claim_seconds * 1000)])
        return [_claimed(value) for value in cast("list[str | None]", found)]

    @broker_call
    def commit(self, stored: Sequence[Stored], within_seconds: float) -> int:
        """Remember what was stored, unless somebody else has claimed it since; return how many are remembered."""
        values = ((_claim(each.token), DONE + each.event_id, each.lifetime_ms) for each in stored)
        with time_limit(within_seconds):
            return int(self._commit(keys=[each.key for each in stored], args=list(chain.from_iterable(values))))

    @broker_call
    def release(self, held: Sequence[tuple[str, str]], within_seconds: float) -> int:
        """Give claims up, pairs of key and token, that are still held by this token; return how many."""
        with time_limit(within_seconds):
            return int(self._drop(keys=[key for key, _ in held], args=[_claim(token) for _, token in held]))

    @broker_call
    def withdraw(self, key: str, event_id: str, within_seconds: float) -> bool:
        """Forget that this event was stored, so that the same may come again; False where another one stands there."""
        with time_limit(within_seconds):
            return bool(self._drop(keys=[key], args=[DONE + event_id]))


def _claim(token: str) -> str:
    return f"claim:{token}"


def _claimed(value: str | None) -> Claimed:
    if value == "":
        return Claimed(ClaimState.NEW)
    if value is not None and value.startswith(DONE):
        return Claimed(ClaimState.DONE, value.removeprefix(DONE))
    return Claimed(ClaimState.IN_FLIGHT)
