"""A process that is killed before or after any of its calls, and one that comes after it."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.lockstep import VERBS, Bells
from tests.support.variations import Witness, setting, using
from tests.support.world import World
from wechat_bridge.flow import poll
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.seed import seed_poll_chains
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.model.outcome import GiveUp
from wechat_bridge.store import redis_keys

PARTS = ("channels", "access", "inbox", "conversations", "turns", "dead_letters", "locks", "spill")
AN_HOUR_MS = 3_600_000
VICTIM = "victim"
ROUNDS = 6


class Killed(BaseException):
    """The process is no more. No handler of the bridge catches this, and nothing it calls afterwards happens."""


@dataclass
class Death:
    """Where the process dies: after its ``number``-th call; nowhere when that is 0."""

    number: int

    def __post_init__(self) -> None:
        self.calls: list[str] = []
        self._names: Counter[str] = Counter()
        self._is_dead = False

    def around(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method, as this process gets to call it."""

        def call(*args: Any, **kwargs: Any) -> Any:
            if self._is_dead:
                raise Killed
            self._names[name] += 1
            self.calls.append(f"{name} {self._names[name]}")
            is_last = len(self.calls) == self.number
            answer = method(*args, **kwargs)
            if is_last:
                self._is_dead = True
                raise Killed
            return answer

        return call

    def within(self, name: str, part: object) -> Any:
        """The part of a bridge, all of whose calls are points of death."""
        mortal = copy.copy(part)
        for method in dir(type(part)):
            if not method.startswith("_") and callable(getattr(part, method)):
                object.__setattr__(mortal, method, self.around(f"{name}.{method}", getattr(part, method)))
        return mortal


class AllBells(Bells):
    """Doorbells for polls too."""

    def ring_poll(self, share_id: str, generation: int, delay_seconds: float = 0) -> None:
        """Ring for a link."""
        self._ring("poll", f"{share_id} {generation}", delay_seconds)


class Lives:
    """One channel, a process that dies at one point, and another one that finds what it left."""

    def __init__(self, world: World, death: Death) -> None:
        self.world = setting(setting(world, "debounce", idle_seconds=0.0), "poll", polls_per_task=2)
        self.death = death
        self.bells = AllBells()
        self.first = self._process(VICTIM, death, dead=[])
        self.second = self._process("heir", Death(0), dead=[VICTIM])

    def _process(self, owner: str, death: Death, dead: list[str]) -> World:
        bridge = self.world.bridge
        parts = {name: death.within(name, getattr(bridge, name)) for name in PARTS}
        doors = {kind: death.within("door", door) for kind, door in bridge.doors.items()}
        engines = {name: death.within("engine", engine) for name, engine in bridge.engines.items()}
        doorbells = death.within("doorbells", self.bells)
        return using(
            self.world, alive=Witness(owner, dead), doorbells=doorbells, doors=doors, engines=engines,
            unfinished=Unfinished(), **parts,
        )  # fmt: skip

    def work(self, world: World) -> None:
        """Take doorbells, as a worker does, until none is due soon."""
        while self.bells.soon:
            verb, subject = self.bells.soon.pop(0)
            self._answer(world.bridge, verb, subject)

    @staticmethod
    def _answer(bridge: Bridge, verb: str, subject: str) -> None:
        if verb == "poll":
            share_id, generation = subject.split()
            poll.poll_channel(bridge, share_id, int(generation))
        else:
            outcome = VERBS[verb](bridge, subject)
            if isinstance(outcome, GiveUp):  # what the base task does
                bridge.doorbells.ring_dead_letter(subject)

    def live_and_die(self) -> None:
        """The first process takes the channel's doorbell and everything that follows, up to its death."""
        self.bells.ring_poll(self.world.share_id, self.world.channel.generation)
        try:
            self.work(self.first)
        except Killed:
            self.bells.later.clear()  # countdowns wait in the memory of a worker

    def go_on(self) -> None:
        """The second process seeds, sweeps and works, while time passes, until nothing is open, and once more."""
        rounds_left = ROUNDS
        while rounds_left > 0:
            rounds_left = 1 if self._is_over() and rounds_left > 1 else rounds_left - 1
            self._let_an_hour_pass()
            seed_poll_chains(self.second.bridge)
            Sweeper().sweep(self.second.bridge)
            self.work(self.second)

    def _is_over(self) -> bool:
        """Whether the message was received, also one that is refused and never becomes a turn, and nothing is open."""
        bridge, of_channel = self.world.bridge, {"share_id": self.world.share_id}
        return (
            bridge.inbox.collection.count_documents(of_channel) > 0
            and bridge.turns.collection.count_documents(of_channel | {"open": True}) == 0
            and bridge.inbox.collection.count_documents(of_channel | {"state": {"$in": ["pending", "in_turn"]}}) == 0
            and bridge.conversations.collection.count_documents(of_channel | {"flush_at": {"$ne": None}}) == 0
        )

    def _let_an_hour_pass(self) -> None:
        """Move every time of this channel into the past, and let what has a short lifetime in Redis run out.

        The lock outlives a poll, so it must be given up by whoever finds its owner dead.
        """
        bridge = self.world.bridge
        of_channel = {"share_id": self.world.share_id}
        _age(bridge.channels.collection, {"_id": self.world.share_id}, "next_poll_at")
        _age(bridge.conversations.collection, of_channel, "flush_at", "flush_deadline", "ring_at")
        _age(bridge.turns.collection, of_channel, "next_attempt_at", "ring_at")
        _age(bridge.inbox.collection, of_channel, "received_at")
        self.world.wired.redis.delete(redis_keys.poll_next(self.world.share_id))


def _age(collection: Any, query: dict[str, Any], *fields: str) -> None:
    older = {
        field: {"$cond": [{"$eq": [f"${field}", None]}, None, {"$subtract": [f"${field}", AN_HOUR_MS]}]}
        for field in fields
    }
    collection.update_many(query, [{"$set": older}])
