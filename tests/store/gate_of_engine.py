"""The gate of one engine, and turns that come and go."""

from __future__ import annotations

from itertools import count
from typing import cast

from wechat_bridge.model.engine import BreakerSettings
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient
from wechat_bridge.store.engine_gates import EngineGates, GateState, Left, Place, Verdict

LEASE_SECONDS = 60.0
_engines = count(1)


class Gate:
    """The gate of one engine that no other test uses. Time passes by changing what Redis knows."""

    def __init__(self, gates: EngineGates, client: RedisClient, limit: int = 0) -> None:
        self.gates, self.client, self.limit = gates, client, limit
        self.name = f"gpt-{next(_engines)}"
        self.settings = BreakerSettings(failures=3, open_seconds=60, open_most_seconds=240)

    def enter(self, turn: str, owner: str = "me") -> Place | None:
        """A turn comes; its place, or None when it has to wait."""
        return self.gates.admit(self.name, self.limit, turn, f"{owner}|{turn}", LEASE_SECONDS)

    def leave(self, place: Place | None, verdict: Verdict = Verdict.ANSWERED, hold_seconds: float = 0) -> Left:
        """A turn that was let in leaves."""
        assert place is not None, "it was not let in"
        return self.gates.leave(
            place, verdict, self.settings, reason="HTTP 500", hold_seconds=hold_seconds, may_wait=True
        )

    def fail(self, turn: str, hold_seconds: float = 0) -> Left:
        """The engine fails on a turn."""
        return self.leave(self.enter(turn), Verdict.FAILED, hold_seconds)

    def shut(self) -> Left:
        """The engine fails until it is left alone."""
        return [self.fail(f"first-{number}") for number in range(3)][-1]

    def wake(self, *dead: str, most: int = 50) -> list[str]:
        """What a sweep rings."""
        return self.gates.wake(self.name, self.limit, most, dead)

    @property
    def state(self) -> GateState:
        """How it stands."""
        return self.gates.look({self.name: self.limit})[0]

    @property
    def keys(self) -> list[str]:
        """Its keys in Redis."""
        return sorted(str(key) for key in self.client.scan_iter(f"*{self.name}"))

    def pass_pause(self) -> None:
        """Let the pause be over."""
        breaker = redis_keys.engine_breaker(self.name)
        assert self.client.hexists(breaker, "open_until"), "it is not shut"
        self.client.hset(breaker, "open_until", "1")

    def pass_lease(self, holder: str) -> None:
        """Let the lease of a holder run out."""
        assert self.client.zadd(redis_keys.engine_slots(self.name), {holder: 1.0}, xx=True, ch=True) == 1

    def pass_second(self) -> None:
        """Let what failed have failed a second ago."""
        failed = redis_keys.engine_failed(self.name)
        for turn in cast("list[str]", self.client.zrange(failed, 0, -1)):
            self.client.zincrby(failed, -1_000_000, turn)

    def enter_to_try(self, turn: str = "try", owner: str = "me") -> Place:
        """Let the pause be over, and a turn come."""
        self.pass_pause()
        place = self.enter(turn, owner)
        assert place is not None
        return place
