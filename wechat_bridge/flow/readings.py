"""What ledger and broker say about the bridge as a whole, read in few queries; health and metrics judge it.

Each query costs what it matches: processes, channels, and unfinished work; finished work is never counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from wechat_bridge.errors import BrokerUnavailable, DocumentInvalid, LedgerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.roles import QUEUES
from wechat_bridge.model.channel import POLLED_KINDS, Channel, ChannelStatus
from wechat_bridge.model.turn import TurnState
from wechat_bridge.model.worker import Worker
from wechat_bridge.store.ledger import patience

PATIENCE_SECONDS = 3.0
"""Whoever asks for health wants to hear that the ledger is away, not to wait for it."""

WAITING_STATES = (TurnState.QUEUED.value, TurnState.GENERATED.value)
WORKING_STATES = (TurnState.GENERATING.value, TurnState.DELIVERING.value)


@dataclass(frozen=True)
class LedgerReading:
    """What MongoDB knows. ``due_turns`` are the due times of turns that wait for a worker, ``lapsed_turns`` the ends of
    leases that have run out, ``due_conversations`` the times at which waiting messages should have become a turn.
    """

    now: datetime
    workers: Sequence[Worker]
    channels: Sequence[Channel]
    turns: Mapping[str, int]
    due_turns: Sequence[datetime]
    lapsed_turns: Sequence[datetime]
    parked: Mapping[str, int]
    due_conversations: Sequence[datetime]
    waiting_messages: int
    dead_letters: Mapping[str, Sequence[datetime]]

    @property
    def polled_channels(self) -> list[Channel]:
        """The channels that should have a running poll chain."""
        return [channel for channel in self.channels if is_polled(channel)]

    def age_seconds(self, times: Sequence[datetime]) -> float:
        """Return how long ago the earliest of ``times`` was, 0 when there is none."""
        return max(0.0, (self.now - min(times, default=self.now)).total_seconds())


@dataclass(frozen=True)
class BrokerReading:
    """What Redis knows: doorbells waiting in each queue, channels whose messages wait outside the ledger, and how many
    dead letters do."""

    queues: Mapping[str, int]
    spilled: Sequence[str]
    spilled_letters: int = 0


@dataclass(frozen=True)
class Readings:
    """Both readings; the error says why one is missing."""

    ledger: LedgerReading | None
    broker: BrokerReading | None
    ledger_error: str = ""
    broker_error: str = ""


def read(bridge: Bridge) -> Readings:
    """Read ledger and broker; a service that is away is a missing reading, not an error."""
    ledger = broker = None
    ledger_error = broker_error = ""
    try:
        with patience(PATIENCE_SECONDS):
            ledger = _read_ledger(bridge)
    except (LedgerUnavailable, DocumentInvalid) as error:
        ledger_error = str(error)
    try:
        broker = BrokerReading(
            {queue: bridge.doorbells.waiting(queue) for queue in QUEUES},
            sorted(bridge.spill.channels()),
            bridge.dead_spill.count(),
        )
    except BrokerUnavailable as error:
        broker_error = str(error)
    return Readings(ledger, broker, ledger_error, broker_error)


def is_polled(channel: Channel) -> bool:
    """Whether a channel should have a running poll chain. Its credentials need not have been read."""
    return channel.kind in POLLED_KINDS and channel.enabled and channel.status is ChannelStatus.ONLINE


def _read_ledger(bridge: Bridge) -> LedgerReading:
    now = bridge.clock.now()
    alive_since = now - timedelta(seconds=bridge.settings.owner.dead_after_seconds)
    turns = bridge.turns.active()
    return LedgerReading(
        now=now,
        workers=[worker for worker in bridge.workers.all() if worker.seen_at >= alive_since],
        channels=bridge.channels.logged_in(),
        turns=Counter(str(turn["state"]) for turn in turns),
        due_turns=_past(now, [turn.get("next_attempt_at") for turn in turns if turn["state"] in WAITING_STATES]),
        lapsed_turns=_past(now, [turn.get("lease_until") for turn in turns if turn["state"] in WORKING_STATES]),
        parked=bridge.turns.count_parked(),
        due_conversations=_past(now, bridge.conversations.due_times()),
        waiting_messages=bridge.inbox.count_waiting(),
        dead_letters=bridge.dead_letters.waiting(),
    )


def _past(now: datetime, times: Sequence[datetime | None]) -> list[datetime]:
    return [time for time in times if time is not None and time <= now]
