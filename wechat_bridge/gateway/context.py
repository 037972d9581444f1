"""What the gateway is given: its rules, stores and targets, and who this process is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from wechat_bridge.gateway.dedupe import Dedupe
from wechat_bridge.gateway.targets import TargetDoor
from wechat_bridge.gateway.versions import Versions
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.model.event_rules import EventRules
from wechat_bridge.settings import Settings
from wechat_bridge.store.clock import LedgerClock
from wechat_bridge.store.dead_letters import DeadLetterStore
from wechat_bridge.store.event_spill import EventSpill
from wechat_bridge.store.event_windows import EventWindowStore
from wechat_bridge.store.events import EventStore

if TYPE_CHECKING:
    from wechat_bridge.gateway.compiled import Compiled


class EventDoorbells(Protocol):
    """Rings tasks by name. Every ``ring_`` method raises BrokerUnavailable when Redis cannot be used."""

    def ring_window(self, key: str, delay_seconds: float = 0) -> None:
        """Ask that what waits under a key goes on."""
        ...

    def ring_dispatch(self, event_id: str, delay_seconds: float = 0) -> None:
        """Ask that an event is handed over; its id is the task id."""
        ...

    def ring_dead_event(self, event_id: str) -> None:
        """Ask that an event that was given up is recorded."""
        ...

    def waiting(self, queue: str) -> int:
        """Return how many doorbells wait in a queue."""
        ...


class Alive(Protocol):
    """Whether this process may act, and whom it may call dead."""

    owner: str

    def check(self) -> None:
        """Raise OwnerStale when this process has not reached the ledger lately."""
        ...

    def dead_owners(self) -> Sequence[str]:
        """Return owners that are dead; empty while this process cannot judge."""
        ...


class Unfinished(Protocol):
    """Steps that the ledger refused, tried again by this process until they succeed."""

    def add(self, name: str, step: Callable[[], object]) -> None:
        """Keep a step for later."""
        ...


@dataclass(frozen=True)
class Gateway:
    """Everything a verb of the gateway needs; put together in ``wiring``.

    ``settings`` and ``rules`` give those in force; ``compiled`` the adapters and schemas made of them, which only who
    takes events needs. ``keep_letter`` keeps a dead letter wherever it can, and is False when that is only the memory
    of this process.
    """

    settings: Callable[[], Settings]
    rules: Callable[[], EventRules]
    compiled: Callable[[], Compiled]
    clock: LedgerClock
    alive: Alive
    doorbells: EventDoorbells
    events: EventStore
    windows: EventWindowStore
    versions: Versions
    spill: EventSpill
    dedupe: Dedupe
    targets: Mapping[str, TargetDoor]
    dead_letters: DeadLetterStore
    keep_letter: Callable[[DeadLetter], bool]
    unfinished: Unfinished
    keep_seconds: float = 4.0
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def owner(self) -> str:
        """The name of this process in the ledger."""
        return self.alive.owner

    def close(self) -> None:
        """Close the connections that are the gateway's own."""
        self.dedupe.close()
        for door in self.targets.values():
            door.close()

    @property
    def ring_again_seconds(self) -> float:
        """After how long the sweep looks at something for which a doorbell is on its way."""
        return self.settings().sweep.ring_again_seconds
