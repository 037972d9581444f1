"""What the flow is given: settings, stores, doors, and who this process is."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from wechat_bridge.channels.base import MediaDoor, SendingDoor
from wechat_bridge.channels.login import LoginDoor
from wechat_bridge.channels.wecom.kf_door import KfDoor
from wechat_bridge.engines.base import Engine
from wechat_bridge.engines.outgoing_webhook import OutgoingWebhook
from wechat_bridge.engines.speech import SpeechToText
from wechat_bridge.flow.send_ids import SendIds
from wechat_bridge.flow.typing_indicator import TypingIndicator
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.live import Live
from wechat_bridge.model.channel import ChannelKind
from wechat_bridge.model.worker import Judgement
from wechat_bridge.settings import Settings
from wechat_bridge.store.access import AccessStore
from wechat_bridge.store.accounts import AccountStore
from wechat_bridge.store.channels import ChannelStore
from wechat_bridge.store.clock import LedgerClock
from wechat_bridge.store.conversations import ConversationStore
from wechat_bridge.store.customer_service import CustomerServiceStore
from wechat_bridge.store.dead_letters import DeadLetterStore
from wechat_bridge.store.dead_spill import DeadLetterSpill
from wechat_bridge.store.due_times import DueTimes
from wechat_bridge.store.engine_gates import EngineGates
from wechat_bridge.store.holds import HoldStore
from wechat_bridge.store.inbox import InboxStore
from wechat_bridge.store.logins import LoginStore
from wechat_bridge.store.media import MediaStore
from wechat_bridge.store.media_links import MediaLinks
from wechat_bridge.store.pacing import SendPacing
from wechat_bridge.store.poll_locks import PollLocks
from wechat_bridge.store.retention import RetentionStore
from wechat_bridge.store.spill import Spill
from wechat_bridge.store.turns import TurnStore
from wechat_bridge.store.workers import WorkerStore


class Doorbells(Protocol):
    """Rings tasks by name. Every ``ring_`` method raises BrokerUnavailable when Redis cannot be used."""

    def ring_poll(self, share_id: str, generation: int, delay_seconds: float = 0) -> None:
        """Ask for the link after ``generation``."""
        ...

    def ring_flush(self, chat_id: str, delay_seconds: float = 0) -> None:
        """Ask that the waiting messages of a conversation become a turn."""
        ...

    def ring_reply(self, turn_id: str, delay_seconds: float = 0) -> None:
        """Ask for the answer of a turn; the turn id is the task id."""
        ...

    def ring_deliver(self, turn_id: str, delay_seconds: float = 0) -> None:
        """Ask that the answer of a turn is sent."""
        ...

    def ring_dead_letter(self, turn_id: str) -> None:
        """Ask that a turn that was given up is recorded."""
        ...

    def ring_login(self, share_id: str, login_id: str, step: int, delay_seconds: float = 0) -> None:
        """Ask for a step of a QR login."""
        ...

    def ring_pull(self, share_id: str) -> None:
        """Ask that the customer service account of a channel is read."""
        ...

    def ring_seed(self, delay_seconds: float) -> None:
        """Ask for a pass of the seeder at a moment of its own."""
        ...

    def waiting(self, queue: str) -> int:
        """Return how many doorbells wait in a queue."""
        ...

    def waiting_polls(self, most: int) -> set[str] | None:
        """Return the channels whose poll doorbell waits in the queue; None when more than ``most`` wait."""
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

    def judge(self) -> Judgement:
        """Return owners that are dead, and when the next one is; nobody while this process cannot judge."""
        ...


class EventLetters(Protocol):
    """Tries given-up events of the gateway again. Both raise DeadLetterUnknown and ReplayRefused."""

    def look(self, letter_id: str) -> str:
        """Return what trying again would do."""
        ...

    def resubmit(self, letter_id: str, by: str) -> str:
        """Try again; return what happens next."""
        ...


@dataclass(frozen=True)
class Bridge:
    """Everything a verb of the flow needs; put together in ``wiring``."""

    live: Live
    clock: LedgerClock
    alive: Alive
    doorbells: Doorbells
    channels: ChannelStore
    accounts: AccountStore
    holds: HoldStore
    access: AccessStore
    inbox: InboxStore
    conversations: ConversationStore
    turns: TurnStore
    dead_letters: DeadLetterStore
    services: CustomerServiceStore
    workers: WorkerStore
    locks: PollLocks
    logins: LoginStore
    pacing: SendPacing
    gates: EngineGates
    spill: Spill
    dead_spill: DeadLetterSpill
    retention: RetentionStore
    due_times: DueTimes
    media: MediaStore
    media_links: MediaLinks
    doors: Mapping[ChannelKind, SendingDoor]
    login_doors: Mapping[ChannelKind, LoginDoor]
    login_slots: threading.BoundedSemaphore
    media_doors: Mapping[ChannelKind, MediaDoor]
    customer_service: KfDoor
    engines: Mapping[str, Engine]
    outgoing: OutgoingWebhook
    speech_to_text: SpeechToText | None = None
    event_letters: EventLetters | None = None
    unfinished: Unfinished = field(default_factory=Unfinished)
    typing: TypingIndicator = field(default_factory=TypingIndicator)
    send_ids: SendIds = field(default_factory=SendIds)
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def settings(self) -> Settings:
        """The settings that are in force; they may be others when asked again."""
        return self.live.current().settings

    @property
    def owner(self) -> str:
        """The name of this process in the ledger."""
        return self.alive.owner
