"""Store what arrived, and make its conversations due."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.command import command_of
from wechat_bridge.model.message import InboundMessage, InboxRow, InboxState, in_order, inbox_row, said_at
from wechat_bridge.model.wecom_kf import SENDS_PER_MESSAGE as KF_SENDS
from wechat_bridge.model.wecom_kf import SOURCE as KF_SOURCE
from wechat_bridge.observe import metrics
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.conversations import Arrival
from wechat_bridge.store.windows import Window

log = logger(__name__)

Ring = Callable[[Bridge, str, float], None]
"""Rings for a conversation: the chat id, and after how many seconds."""


def store(bridge: Bridge, channel: Channel, messages: Sequence[InboundMessage], source: str) -> None:
    """Make every message durable and its conversation due; then ring. Raises LedgerUnavailable, having lost nothing."""
    if messages:
        store_rows(bridge, rows_of(bridge, channel, messages, source))


def rows_of(bridge: Bridge, channel: Channel, messages: Sequence[InboundMessage], source: str) -> list[InboxRow]:
    """Return the inbox rows of one answer; they share the time of receipt, which is what makes them one answer."""
    received_at = bridge.clock.now()
    return [inbox_row(message, channel.id, channel.epoch, received_at, source) for message in messages]


def ring_flush(bridge: Bridge, chat_id: str, delay_seconds: float) -> None:
    """Ring for a conversation. A lost doorbell costs seconds: the due time is in the ledger, the sweep sees it."""
    try:
        bridge.doorbells.ring_flush(chat_id, delay_seconds)
    except BrokerUnavailable as error:
        log.warning("ring_failed", chat_id=chat_id, error=str(error))


def store_rows(bridge: Bridge, rows: Sequence[InboxRow], ring: Ring = ring_flush) -> set[str]:
    """Store rows, those that are there already included; return the ids of the new ones. Raises LedgerUnavailable."""
    with metrics.stage_seconds.labels("store").time():
        new = bridge.inbox.add(rows)
    for row in rows:
        if row.id in new:
            metrics.message_received(row)
            log.info("message_received", share_id=row.share_id, message_id=row.message_id, state=row.state.value,
                     reason=row.reason, trace_id=row.trace_id)  # fmt: skip
    fresh = [row for row in rows if row.id in new and row.state is InboxState.PENDING]
    for arrival in _arrivals(bridge, fresh):
        delay_seconds = bridge.conversations.arm(arrival, _window(bridge), bridge.clock.now())
        if delay_seconds is not None:
            ring(bridge, arrival.chat_id, delay_seconds)
    _rearm_repeats(bridge, [row for row in rows if row.id not in new], ring)
    return new


def make_due(bridge: Bridge, rows: Sequence[InboxRow], ring: Ring = ring_flush) -> None:
    """Give conversations whose messages wait without a due time one, and ring."""
    for arrival in _arrivals(bridge, rows):
        if bridge.conversations.ensure_due(arrival, bridge.clock.now()):
            ring(bridge, arrival.chat_id, 0.0)


def _rearm_repeats(bridge: Bridge, repeats: Sequence[InboxRow], ring: Ring) -> None:
    """A repeat of a message whose process died before it was due makes it due; any other repeat changes nothing."""
    if not repeats:
        return
    waiting = bridge.inbox.pending_chats(row.id for row in repeats)
    make_due(bridge, [row for row in repeats if row.chat_id in waiting], ring)
    for row in repeats:
        metrics.message_repeated(row)
        log.debug("message_repeated", share_id=row.share_id, message_id=row.message_id)


def _arrivals(bridge: Bridge, rows: Iterable[InboxRow]) -> list[Arrival]:
    chats: dict[str, list[InboxRow]] = {}
    for row in rows:
        chats.setdefault(row.chat_id, []).append(row)
    return [_arrival(bridge, in_order(group)) for group in chats.values()]


def _arrival(bridge: Bridge, rows: list[InboxRow]) -> Arrival:
    last = rows[-1]
    return Arrival(
        chat_id=last.chat_id,
        share_id=last.share_id,
        user_id=last.user_id,
        count=len(rows),
        context_token=last.context_token,
        epoch=last.epoch,
        sent_at=said_at(last),
        received_at=last.received_at,
        sends=KF_SENDS if last.source == KF_SOURCE else bridge.settings.reply.sends_per_message,
        is_urgent=any(command_of(row.items) for row in rows),
    )


def _window(bridge: Bridge) -> Window:
    debounce = bridge.settings.debounce
    return Window(debounce.idle_seconds, debounce.most_seconds, debounce.most_messages)
