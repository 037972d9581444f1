"""Merge the waiting messages of a conversation into one turn."""

from __future__ import annotations

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.intake import ring_flush
from wechat_bridge.flow.overflow import most_read, within_cap
from wechat_bridge.flow.park import release_parked
from wechat_bridge.flow.people.access import admitted
from wechat_bridge.flow.queue_modes import next_rows
from wechat_bridge.flow.ring import ring_turn
from wechat_bridge.model import keys
from wechat_bridge.model.channel import QueueMode
from wechat_bridge.model.command import command_of
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.message import InboxRow, in_order
from wechat_bridge.model.turn import Lane, Turn, TurnState
from wechat_bridge.observe import metrics
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.turns import Opening
from wechat_bridge.store.windows import BLOCKED_SECONDS, EARLY_SECONDS, RECHECK_SECONDS

log = logger(__name__)


def flush_conversation(bridge: Bridge, chat_id: str) -> None:
    """Make a turn of what waits if it is due; ring again for later if it is not."""
    conversation = bridge.conversations.get(chat_id)
    if conversation is None or conversation.flush_at is None:
        return
    early = (conversation.flush_at - bridge.clock.now()).total_seconds()
    if early > EARLY_SECONDS:
        ring_flush(bridge, chat_id, early)
        return
    pending = bridge.inbox.pending(chat_id, most_read(bridge))
    for parked in bridge.turns.parked_of(chat_id):
        release_parked(bridge, parked)
    gate = bridge.access.gate(conversation.share_id) if pending else None
    mode = gate.queue_mode if gate else QueueMode.COLLECT
    asked, commands = _apart(admitted(bridge, conversation, pending, gate))
    kept = asked if mode is QueueMode.INTERRUPT else within_cap(bridge, conversation, asked)
    may_be_more = len(pending) == most_read(bridge)
    _flush(bridge, conversation, mode, kept, commands, more=int(may_be_more))
    has_made_room = len(kept) + len(commands) < len(pending) or (mode is QueueMode.INTERRUPT and len(asked) > 1)
    if may_be_more and has_made_room:
        _go_on(bridge, chat_id)


def _flush(
    bridge: Bridge,
    conversation: Conversation,
    mode: QueueMode,
    asked: list[InboxRow],
    commands: list[InboxRow],
    more: int,
) -> None:
    """Make turns of what may be answered, and see to it that somebody looks at what is left."""
    left = more + len(_open_commands(bridge, conversation, commands))
    rows, waiting = next_rows(bridge, conversation, mode, asked)
    if rows:
        _open(bridge, conversation, mode, rows, left=left + waiting)
    elif left:
        _look_later(bridge, conversation, mode)
    elif not bridge.conversations.clear_due(conversation.id, conversation.rev):
        ring_flush(bridge, conversation.id, 0.0)


def _go_on(bridge: Bridge, chat_id: str) -> None:
    """More may wait than one flush reads, and this one has made room: look at the rest soon."""
    bridge.conversations.block(chat_id, bridge.clock.now())
    ring_flush(bridge, chat_id, RECHECK_SECONDS)


def _apart(rows: list[InboxRow]) -> tuple[list[InboxRow], list[InboxRow]]:
    """Return the rows for the engine, and the commands in order."""
    commands = in_order([row for row in rows if command_of(row.items)])
    return [row for row in rows if row not in commands], commands


def _open_commands(bridge: Bridge, conversation: Conversation, rows: list[InboxRow]) -> list[InboxRow]:
    """Make a turn of each command that need not wait behind another one; return those that must."""
    for number, row in enumerate(rows):
        turn = _turn(bridge, conversation, [row], Lane.COMMAND)
        opening = bridge.turns.open(turn)
        if opening is Opening.BUSY:
            return rows[number:]
        if opening is Opening.OPENED:
            ring_turn(bridge, turn)
    return []


def _open(bridge: Bridge, conversation: Conversation, mode: QueueMode, rows: list[InboxRow], left: int) -> None:
    turn = _turn(bridge, conversation, rows)
    opening = bridge.turns.open(turn)
    if opening is not Opening.OPENED:
        _wait_behind(bridge, conversation, mode)
        return
    metrics.debounced_total.inc(len(rows) - 1)
    log.info("turn_opened", turn_id=turn.id, chat_id=turn.chat_id, messages=len(rows), trace_id=turn.trace_id)
    if left or not bridge.conversations.clear_due(conversation.id, conversation.rev):
        _look_later(bridge, conversation, mode)
    ring_turn(bridge, turn)


def _wait_behind(bridge: Bridge, conversation: Conversation, mode: QueueMode) -> None:
    """Another turn is open: its end makes what waits due.

    It may have ended between our refused insert and the write here, so look once more.
    """
    chat_id = conversation.id
    _look_later(bridge, conversation, mode)
    open_turn = bridge.turns.open_of(chat_id)
    if open_turn is None:
        if bridge.conversations.unblock(chat_id, bridge.clock.now()):
            ring_flush(bridge, chat_id, RECHECK_SECONDS)
    elif open_turn.state is TurnState.PARKED:
        release_parked(bridge, open_turn)


def _look_later(bridge: Bridge, conversation: Conversation, mode: QueueMode) -> None:
    """What is left waits behind a turn; but what has just arrived may interrupt it, and its doorbell was this one."""
    rev = conversation.rev if mode is QueueMode.INTERRUPT else None
    is_blocked = bridge.conversations.block(conversation.id, bridge.clock.after(BLOCKED_SECONDS), rev)
    if rev is not None and not is_blocked:
        ring_flush(bridge, conversation.id, 0.0)


def _turn(bridge: Bridge, conversation: Conversation, rows: list[InboxRow], lane: Lane = Lane.TALK) -> Turn:
    now = bridge.clock.now()
    return Turn(
        id=keys.turn_id(conversation.share_id, rows[-1].message_id),
        share_id=conversation.share_id,
        chat_id=conversation.id,
        user_id=conversation.user_id,
        lane=lane,
        message_ids=tuple(row.id for row in rows),
        next_attempt_at=now,
        ring_at=bridge.clock.after(bridge.settings.sweep.ring_again_seconds),
        trace_id=rows[-1].trace_id,
        times={TurnState.QUEUED.value: now},
    )
