"""Keep what could not be stored because MongoDB is away, and store it later."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable, TransientError
from wechat_bridge.flow import intake
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.message import InboundMessage, InboxRow
from wechat_bridge.observe import alerts
from wechat_bridge.observe.logging import logger

log = logger(__name__)

PAUSE_SECONDS = 1.0

MOST_HELD = 200
"""So many unfinished steps of a process may be spilled messages: its heart does them between two beats."""

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
    if len(bridge.unfinished) < MOST_HELD:
        # Redis may be flushed before the ledger is back: only then with the end of this process would they be lost.
        bridge.unfinished.add(f"spilled {rows[0].id}", partial(intake.store_rows, bridge, rows))
    return True


def _store(bridge: Bridge, rows: Sequence[InboxRow]) -> bool:
    try:
        intake.store_rows(bridge, rows)
    except TransientError:
        return False
    return True


def drain_channel(bridge: Bridge, share_id: str, most: int | None = None) -> None:
    """Store what a channel's spill holds, oldest first. Raises LedgerUnavailable or BrokerUnavailable."""
    drained = 0
    while most is None or drained < most:
        found = bridge.spill.peek(share_id, AT_ONCE if most is None else min(AT_ONCE, most - drained))
        if found is None:
            return
        batches, rows = found
        intake.store_rows(bridge, rows)
        bridge.spill.drop(share_id, batches)
        drained += len(batches)
        log.info("spill_drained", share_id=share_id, count=len(rows))


def drain(bridge: Bridge) -> None:
    """Drain every channel's spill, or a part of one that is long. Raises LedgerUnavailable or BrokerUnavailable."""
    for share_id in bridge.spill.channels():
        drain_channel(bridge, share_id, MOST_DRAINED)
        bridge.spill.forget_if_empty(share_id)
        alerts.clear("ledger_unavailable", share_id)
