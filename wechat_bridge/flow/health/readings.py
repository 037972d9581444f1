"""What ledger and broker say about the bridge as a whole, read in few queries; health and metrics judge it.

Each query costs what it matches: processes, channels, and unfinished work; finished work is never counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from wechat_bridge.errors import BrokerUnavailable, DocumentInvalid, LedgerUnavailable
from wechat_bridge.flow.admission import limits, share_id_of
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.roles import QUEUES
from wechat_bridge.model.access import Policy
from wechat_bridge.model.channel import POLLED_KINDS, Channel, ChannelStatus
from wechat_bridge.model.turn import TurnState
from wechat_bridge.model.worker import Worker
from wechat_bridge.store.engine_gates import GateState
from wechat_bridge.store.ledger import Document, patience

PATIENCE_SECONDS = 3.0
"""Whoever asks for health wants to hear that the ledger is away, not to wait for it."""

WAITING_STATES = (TurnState.QUEUED.value, TurnState.GENERATED.value)
WORKING_STATES = (TurnState.GENERATING.value, TurnState.DELIVERING.value)


@dataclass(frozen=True)
class LedgerReading:
    """What MongoDB knows. ``due_turns`` are the due times of turns that wait for a worker, ``lapsed_turns`` the ends of
    leases that have run out, ``due_conversations`` the times at which waiting messages should have become a turn.
    ``pairing_codes`` counts the codes that wait for an operator, for each channel that gives out such.
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
    pairing_codes: Mapping[str, int]

    @property
    def polled_channels(self) -> list[Channel]:
        """The channels that should have a running poll chain."""
        return [channel for channel in self.channels if is_polled(channel)]

    def age_seconds(self, times: Sequence[datetime]) -> float:
        """Return how long ago the earliest of ``times`` was, 0 when there is none."""
        return max(0.0, (self.now - min(times, default=self.now)).total_seconds())


@dataclass(frozen=True)
class BrokerReading:
    """What Redis knows: doorbells waiting in each queue, channels whose messages wait outside the ledger, how many
    dead letters do, and how the gates of the engines stand."""

    queues: Mapping[str, int]
    spilled: Sequence[str]
    spilled_letters: int = 0
    gates: Sequence[GateState] = ()


@dataclass(frozen=True)
class Readings:
    """Both readings; the error says why one is missing."""

    ledger: LedgerReading | None
    broker: BrokerReading | None
    ledger_error: str = ""
    broker_error: str = ""


def read(bridge: Bridge) -> Readings:
    """Read ledger and broker; a service that is away is a missing reading, not an error."""
    broker, broker_error = _read_broker(bridge)
    try:
        with patience(PATIENCE_SECONDS):
            ledger = _read_ledger(bridge, broker)
    except (LedgerUnavailable, DocumentInvalid) as error:
        return Readings(None, broker, str(error), broker_error)
    return Readings(ledger, broker, "", broker_error)


def is_polled(channel: Channel) -> bool:
    """Whether a channel should have a running poll chain. Its credentials need not have been read."""
    return channel.kind in POLLED_KINDS and channel.enabled and channel.status is ChannelStatus.ONLINE


def _read_broker(bridge: Bridge) -> tuple[BrokerReading | None, str]:
    try:
        reading = BrokerReading(
            {queue: bridge.doorbells.waiting(queue) for queue in QUEUES},
            sorted(bridge.spill.channels()),
            bridge.dead_spill.count(),
            bridge.gates.look(limits(bridge)),
        )
    except BrokerUnavailable as error:
        return None, str(error)
    return reading, ""


def _read_ledger(bridge: Bridge, broker: BrokerReading | None) -> LedgerReading:
    now = bridge.clock.now()
    alive_since = now - timedelta(seconds=bridge.settings.owner.dead_after_seconds)
    turns, channels = bridge.turns.active(), bridge.channels.logged_in()
    held = {channel.share_id for channel in channels if channel.engine in _lines(broker)}
    waiting = [turn for turn in turns if turn["state"] in WAITING_STATES and not _is_held(turn, held)]
    return LedgerReading(
        now=now,
        workers=[worker for worker in bridge.workers.all() if worker.seen_at >= alive_since],
        channels=channels,
        turns=Counter(str(turn["state"]) for turn in turns),
        due_turns=_past(now, [turn.get("next_attempt_at") for turn in waiting]),
        lapsed_turns=_past(now, [turn.get("lease_until") for turn in turns if turn["state"] in WORKING_STATES]),
        parked=bridge.turns.count_parked(),
        due_conversations=_past(now, bridge.conversations.due_times()),
        waiting_messages=bridge.inbox.count_waiting(),
        dead_letters=bridge.dead_letters.waiting(),
        pairing_codes=_pairing_codes(bridge, channels, now),
    )


def _pairing_codes(bridge: Bridge, channels: Sequence[Channel], now: datetime) -> Mapping[str, int]:
    return {
        channel.id: len(bridge.access.waiting_codes(channel.id, now)) if now < (channel.codes_until or now) else 0
        for channel in channels
        if channel.access.policy is Policy.PAIRING
    }


def _lines(broker: BrokerReading | None) -> set[str]:
    """Return the engines in front of which turns wait for their turn, or would."""
    return {gate.engine for gate in broker.gates if gate.is_shut or gate.waiting} if broker else set()


def _is_held(turn: Document, share_ids: Collection[str]) -> bool:
    return turn["state"] == TurnState.QUEUED.value and share_id_of(turn["_id"]) in share_ids


def _past(now: datetime, times: Sequence[datetime | None]) -> list[datetime]:
    return [time for time in times if time is not None and time <= now]
