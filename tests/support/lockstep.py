"""Two workers in lock step: every call of a store is a point at which the other one may go on instead."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any

from tests.support.variations import using
from tests.support.world import World
from wechat_bridge.flow import deliver, intake, reply, turns
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.model.message import InboundMessage

STORES = ("inbox", "conversations", "turns", "dead_letters", "access")
SOON_SECONDS = 1.0
FOREVER = 10_000
EARLY_STEPS = 9
SHARE = 10
SLACK_STEPS = 8


class Turnstile:
    """Lets two threads pass one at a time, in the order given: who goes, and for how many steps."""

    def __init__(self, order: Sequence[tuple[int, int]]) -> None:
        self._order = chain.from_iterable(repeat(who, steps) for who, steps in order)
        self._changed = threading.Condition()
        self._numbers: dict[int, int] = {}
        self._finished: set[int] = set()
        self._current = next(self._order, 0)
        self.steps = [0, 0]

    def enter(self, number: int) -> None:
        """Say which thread this is, and wait for its turn."""
        with self._changed:
            self._numbers[threading.get_ident()] = number
            self._wait(number)

    def step(self) -> None:
        """One step of this thread is done; wait for its next turn. Other threads pass freely."""
        number = self._numbers.get(threading.get_ident())
        if number is None:
            return
        with self._changed:
            self.steps[number] += 1
            self._go_on()
            self._wait(number)

    def leave(self, number: int) -> None:
        """This thread takes no more steps."""
        with self._changed:
            self._finished.add(number)
            del self._numbers[threading.get_ident()]
            self._go_on()

    def _go_on(self) -> None:
        following = (who for who in self._order if who not in self._finished)
        left = (who for who in (self._current, 0, 1) if who not in self._finished)
        self._current = next(following, next(left, 0))
        self._changed.notify_all()

    def _wait(self, number: int) -> None:
        if not self._changed.wait_for(lambda: self._current == number, timeout=20):
            raise TimeoutError("the other worker does not go on")


class Bells:
    """Doorbells that wait in this process: those due soon for any worker, later ones apart."""

    def __init__(self) -> None:
        self.soon: list[tuple[str, str]] = []
        self.later: list[tuple[str, str]] = []

    def _ring(self, verb: str, subject: str, delay_seconds: float = 0) -> None:
        (self.soon if delay_seconds <= SOON_SECONDS else self.later).append((verb, subject))

    def ring_poll(self, share_id: str, generation: int, delay_seconds: float = 0) -> None:
        """Polls are not what is tested here."""
        raise AssertionError("nothing here polls")

    def ring_flush(self, chat_id: str, delay_seconds: float = 0) -> None:
        """Ring for a flush."""
        self._ring("flush", chat_id, delay_seconds)

    def ring_reply(self, turn_id: str, delay_seconds: float = 0) -> None:
        """Ring for an answer."""
        self._ring("reply", turn_id, delay_seconds)

    def ring_deliver(self, turn_id: str, delay_seconds: float = 0) -> None:
        """Ring for a delivery."""
        self._ring("deliver", turn_id, delay_seconds)

    def ring_dead_letter(self, turn_id: str) -> None:
        """Ring for a dead letter."""
        self._ring("dead", turn_id)

    def waiting(self, queue: str) -> int:
        """Nothing is ever crowded here."""
        return 0

    def waiting_polls(self, most: int) -> set[str] | None:
        """No polls."""
        return set()


VERBS: dict[str, Callable[[Bridge, str], object]] = {
    "flush": turns.flush_conversation,
    "reply": reply.generate_reply,
    "deliver": deliver.deliver_reply,
    "dead": record_dead_letter,
}


class Lockstep:
    """A world whose work is done by two workers that change at the points given."""

    def __init__(self, world: World, order: Sequence[tuple[int, int]]) -> None:
        self.turnstile = Turnstile(order)
        self.bells = Bells()
        stores = {name: self._gated(getattr(world.bridge, name)) for name in STORES}
        self.world = using(world, doorbells=self.bells, **stores)

    def _gated(self, store: object) -> object:
        gated = copy.copy(store)
        for name in dir(type(store)):
            method = getattr(store, name)
            if not name.startswith("_") and callable(method):
                setattr(gated, name, self._with_step(method))
        return gated

    def _with_step(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.turnstile.step()
            return method(*args, **kwargs)

        return call

    def receive(self, *messages: InboundMessage) -> None:
        """Store messages as one answer; this too is done in steps."""
        intake.store(self.world.bridge, self.world.channel, messages, "poll")

    def answer_bells(self, bridge: Bridge | None = None) -> None:
        """Work like a worker (of another process, if it has a bridge of its own): take doorbells until none is due."""
        while self.bells.soon:
            verb, subject = self.bells.soon.pop(0)
            VERBS[verb](bridge or self.world.bridge, subject)

    def run(self, *works: Callable[[], None]) -> None:
        """Let each worker do its work, then answer doorbells; afterwards one answers those that are left."""
        errors: list[BaseException] = []
        threads = [
            threading.Thread(target=self._work, args=(number, work, errors)) for number, work in enumerate(works)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        if errors:
            raise errors[0]
        self.answer_bells()

    def _work(self, number: int, work: Callable[[], None], errors: list[BaseException]) -> None:
        self.turnstile.enter(number)
        try:
            work()
            self.answer_bells()
        except BaseException as error:  # noqa: BLE001  # handed to the test's own thread
            errors.append(error)
        finally:
            self.turnstile.leave(number)


def two_switches(most_steps: int, *, everything: bool) -> Iterator[list[tuple[int, int]]]:
    """Orders in which worker 0 is interrupted once by worker 1, which is itself interrupted once.

    Worker 0 goes ``i`` steps, worker 1 goes ``j``, then 0 to its end, then 1. Not everything means all orders in which
    worker 1 is not interrupted, and a tenth of those in which it is early on, where it stores and flushes.
    """
    last = most_steps + (SLACK_STEPS if everything else 0)
    pairs = [(i, j) for i in range(last) for j in range(1, last if everything else EARLY_STEPS)]
    for i, j in [*((i, FOREVER) for i in range(last)), *pairs[:: 1 if everything else SHARE]]:
        yield [(0, i), (1, j), (0, FOREVER), (1, FOREVER)]
