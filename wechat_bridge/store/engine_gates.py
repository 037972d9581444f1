"""The gate in front of each reply engine, in Redis: a circuit breaker, places, and the line of turns that wait.

Every worker goes through it, so that all together ask no more often than allowed, and leave alone what does not answer.
Without Redis there is no gate. After a flush everything is let in, and what waited is found by the sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, cast

from wechat_bridge.model.engine import BreakerSettings
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call, script

MOST_WAITING = 20_000
"""Turns in one line. Those beyond it are found by the sweep."""

RING_AT_ONCE = 2
"""Who leaves lets in two, so that a line speeds up without a herd; with a limit never more than there are places."""

KEYS = (redis_keys.engine_breaker, redis_keys.engine_slots, redis_keys.engine_waiting, redis_keys.engine_failed)


class Verdict(StrEnum):
    """What became of a turn that was let in."""

    ANSWERED = "answered"  # the engine answered, or refused for a reason of its own: it is there
    FAILED = "failed"  # the engine is away or failed
    NOTHING = "nothing"  # it was not asked, or it is not known what it would have done


@dataclass(frozen=True)
class Place:
    """The permission to ask an engine. ``must_leave`` is False where a success need not be told."""

    engine: str
    limit: int
    turn_id: str
    holder: str
    must_leave: bool


@dataclass(frozen=True)
class Left:
    """What followed from leaving. ``change`` is ``opened``, ``closed`` or "".

    ``is_guilty``: the engine has answered others since it last failed on this turn. ``next_turns`` are to be rung,
    after ``delay_seconds``.
    """

    is_open: bool
    change: str
    is_guilty: bool
    delay_seconds: float
    next_turns: Sequence[str]


@dataclass(frozen=True)
class GateState:
    """How a gate stands. ``open_since`` is when the engine began to fail, None while it answers; limit 0: none."""

    engine: str
    limit: int
    in_use: int
    waiting: int
    open_since: datetime | None
    reason: str

    @property
    def is_open(self) -> bool:
        """Whether the breaker keeps turns out."""
        return self.open_since is not None

    @property
    def is_shut(self) -> bool:
        """Whether a turn that comes now has to wait."""
        return self.is_open or 0 < self.limit <= self.in_use


class EngineGates:
    """One set of keys for each engine. Every method raises BrokerUnavailable when Redis cannot be used."""

    def __init__(self, client: RedisClient, most_waiting: int = MOST_WAITING) -> None:
        self._client = client
        self._gate = script(client, "engine_gate")
        self._most_waiting = most_waiting
        self._failing: set[str] = set()  # engines that this process has heard to fail since they last answered

    @broker_call
    def admit(self, engine: str, limit: int, turn_id: str, holder: str, lease_seconds: float) -> Place | None:
        """Let a turn in, or put it in the line. ``holder`` begins with its process and ``|``."""
        is_in, must_leave = self._call(engine, "admit", limit, turn_id, holder, int(lease_seconds * 1000))
        if must_leave and not limit:
            self._failing.add(engine)
        return Place(engine, limit, turn_id, holder, must_leave=bool(must_leave)) if is_in else None

    @broker_call
    def leave(
        self, place: Place, verdict: Verdict, settings: BreakerSettings, *,
        reason: str = "", hold_seconds: float = 0.0, may_wait: bool = False,
    ) -> Left:  # fmt: skip
        """Give a place back. ``hold_seconds`` is how long the engine asked to be left alone, 0: it did not ask.

        A turn that ``may_wait`` is put in the line when the engine is down. Where there is nothing to tell, Redis is
        not asked.
        """
        if not self._must_tell(place, verdict):
            return Left(is_open=False, change="", is_guilty=False, delay_seconds=0.0, next_turns=())
        first_ms, most_ms = int(settings.open_seconds * 1000), int(settings.open_most_seconds * 1000)
        is_open, change, is_guilty, delay_ms, turns = self._call(
            place.engine, "leave", place.limit, place.holder, verdict.value, place.turn_id, RING_AT_ONCE,
            settings.failures, first_ms, most_ms, min(most_ms, int(hold_seconds * 1000)), reason, int(may_wait),
        )  # fmt: skip
        return Left(bool(is_open), change, bool(is_guilty), int(delay_ms) / 1000, turns)

    @broker_call
    def wake(self, engine: str, limit: int, most: int, dead_owners: Sequence[str] = ()) -> list[str]:
        """Free what dead processes held; return the turns that can be let in now, at most so many, to be rung."""
        return cast("list[str]", self._call(engine, "wake", limit, most, *dead_owners))

    @broker_call
    def line_up(self, engine: str, turn_ids: Sequence[str]) -> None:
        """Put turns at the end of the line that are not in it."""
        if turn_ids:
            self._call(engine, "join", 0, *turn_ids)

    @broker_call
    def forget(self, engine: str, turn_id: str) -> None:
        """Take a turn out of the line that has no business there."""
        self._client.zrem(redis_keys.engine_waiting(engine), turn_id)

    @broker_call
    def look(self, limits: Mapping[str, int]) -> list[GateState]:
        """Return how the gates of these engines stand. Two round trips."""
        if not limits:
            return []
        seconds, _ = self._client.time()
        with self._client.pipeline(transaction=False) as pipe:
            for engine in limits:
                pipe.hmget(redis_keys.engine_breaker(engine), ["open_until", "since", "reason"])
                pipe.zcount(redis_keys.engine_slots(engine), seconds * 1000, "+inf")
                pipe.zcard(redis_keys.engine_waiting(engine))
            found = pipe.execute()
        rows = zip(limits.items(), found[::3], found[1::3], found[2::3], strict=True)
        return [_state(name, limit, breaker, used, waiting) for (name, limit), breaker, used, waiting in rows]

    def _must_tell(self, place: Place, verdict: Verdict) -> bool:
        if verdict is Verdict.FAILED:
            self._failing.add(place.engine)
            return True
        if verdict is Verdict.ANSWERED and place.engine in self._failing:
            self._failing.discard(place.engine)
            return True
        return place.must_leave

    def _call(self, engine: str, verb: str, limit: int, *args: object) -> Any:
        return self._gate(keys=[name(engine) for name in KEYS], args=[verb, limit, self._most_waiting, *args])


def _state(engine: str, limit: int, breaker: Sequence[str | None], used: int, waiting: int) -> GateState:
    open_until, since, reason = breaker
    began = datetime.fromtimestamp(int(since) / 1000, UTC) if open_until and since else None
    return GateState(engine, limit, used if limit else 0, waiting, began, (reason or "") if began else "")
