"""Keep what could not be stored because MongoDB is away, and store it later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable, TransientError
from wechat_bridge.flow import intake
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.unfinished import Step
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.message import InboundMessage, InboxRow
from wechat_bridge.observe import alerts
from wechat_bridge.observe.logging import logger

log = logger(__name__)

PAUSE_SECONDS = 1.0

MOST_HELD = 200
"""So many spilled messages of a channel a process holds besides: its heart stores them between two beats."""

AT_ONCE = 50
"""Batches that are stored together: one write of the ledger instead of as many."""

MOST_DRAINED = 1_000
"""Batches of a channel that one pass of the sweep stores: some seconds, in which nobody is taken over from."""


def keep(
    bridge: Bridge, channel: Channel, messages: Sequence[InboundMessage], source: str, error: LedgerUnavailable
) -> None:
    """Hold on to an answer until it is durable somewhere: in the spill, or in the ledger when that is back first.

    Returns only then, or when the process is told to stop while neither can be reached (nothing can be promised then).
    """
    rows = intake.rows_of(bridge, channel, messages, source)
    alerts.raise_("ledger_unavailable", channel.id, f"{len(rows)} messages wait outside the ledger: {error}")
    while rows and not (put(bridge, channel.id, rows) or _store(bridge, rows)):
        if bridge.stopping.wait(PAUSE_SECONDS):
            log.error("messages_dropped_at_stop", share_id=channel.id, message_ids=[row.message_id for row in rows])
            return


def put(bridge: Bridge, share_id: str, rows: Sequence[InboxRow]) -> bool:
    """Keep rows in Redis until the ledger is back; False when Redis cannot be used, or the spill is full."""
    try:
        bridge.spill.put(share_id, rows)
    except BrokerUnavailable as error:
        log.warning("spill_failed", share_id=share_id, error=str(error))
        return False
    log.warning("messages_spilled", share_id=share_id, count=len(rows))
    # Redis may be flushed before the ledger is back: only then with the end of this process would they be lost.
    bridge.unfinished.change(_held(share_id), partial(_with, bridge, share_id, rows))
    return True


@dataclass(frozen=True)
class Held:
    """Spilled rows of a channel that this process knows besides, oldest first: the unfinished step that stores them.

    One step for all, so that none is stored before an older one that failed. What others spilled goes with them: it
    may be older, too.
    """

    bridge: Bridge
    share_id: str
    rows: tuple[InboxRow, ...]

    def __call__(self) -> None:
        """Store them after what the spill holds. Raises LedgerUnavailable, also where the next beat has to go on."""
        try:
            if not drain_channel(self.bridge, self.share_id, MOST_HELD):
                raise LedgerUnavailable(f"more messages of {self.share_id} are spilled than are stored at once")
        except BrokerUnavailable as error:
            log.warning("spill_unreadable", share_id=self.share_id, error=str(error))
        self.store()

    def store(self) -> None:
        """Store them. Raises LedgerUnavailable."""
        intake.store_rows(self.bridge, self.rows)


def store_held(bridge: Bridge, share_id: str) -> None:
    """Store what this process holds of a channel besides the spill. Raises LedgerUnavailable."""
    step = bridge.unfinished.get(_held(share_id))
    if isinstance(step, Held):
        step.store()


def _held(share_id: str) -> str:
    return f"spilled {share_id}"


def _with(bridge: Bridge, share_id: str, rows: Sequence[InboxRow], step: Step | None) -> Held:
    held = step.rows if isinstance(step, Held) else ()
    return Held(bridge, share_id, held if len(held) >= MOST_HELD else (*held, *rows))


def _store(bridge: Bridge, rows: Sequence[InboxRow]) -> bool:
    try:
        intake.store_rows(bridge, rows)
    except TransientError:
        return False
    return True


def drain_channel(bridge: Bridge, share_id: str, most: int | None = None) -> bool:
    """Store what a channel's spill holds, oldest first; False when that is ``most`` batches, and there may be more.

    Raises LedgerUnavailable or BrokerUnavailable.
    """
    drained = 0
    while most is None or drained < most:
        found = bridge.spill.peek(share_id, AT_ONCE if most is None else min(AT_ONCE, most - drained))
        if found is None:
            return True
        batches, rows = found
        intake.store_rows(bridge, rows)
        bridge.spill.drop(share_id, batches)
        drained += len(batches)
        log.info("spill_drained", share_id=share_id, count=len(rows))
    return False


def drain(bridge: Bridge) -> None:
    """Drain every channel's spill, or a part of one that is long. Raises LedgerUnavailable or BrokerUnavailable."""
    for share_id in bridge.spill.channels():
        drain_channel(bridge, share_id, MOST_DRAINED)
        bridge.spill.forget_if_empty(share_id)
        alerts.clear("ledger_unavailable", share_id)
