"""Choose which waiting messages become the next turn: what a channel's queue mode says about those behind an open one.

Messages that find no turn open are merged under every mode.
"""

from __future__ import annotations

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.overflow import most_read
from wechat_bridge.flow.stop import RACES, end_turn
from wechat_bridge.model.channel import QueueMode
from wechat_bridge.model.command import command_of
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.message import InboxRow, in_order
from wechat_bridge.model.turn import TERMINAL, Turn
from wechat_bridge.observe.logging import logger

log = logger(__name__)

SUPERSEDED = "superseded"
"""Why a turn or a message was skipped: its person wrote something newer, under the mode interrupt."""


def next_rows(
    bridge: Bridge, conversation: Conversation, mode: QueueMode, rows: list[InboxRow]
) -> tuple[list[InboxRow], int]:
    """Return the rows of the next turn, in order, and how many wait for one after it. Raises LedgerUnavailable.

    With debouncing off, one answer's messages are one turn; but what waited behind an open turn is collected.
    """
    waiting, debounce = in_order(rows), bridge.settings.debounce
    if mode is QueueMode.INTERRUPT:
        waiting = _newest(bridge, conversation, waiting)
    chosen = waiting
    if mode is QueueMode.FOLLOWUP and _waited(bridge, conversation, waiting):
        chosen = waiting[:1]
    elif debounce.idle_seconds == 0 and not conversation.blocked:
        chosen = [row for row in waiting if row.received_at == waiting[0].received_at]
    chosen = chosen[: debounce.most_messages]
    return chosen, len(waiting) - len(chosen)


def _waited(bridge: Bridge, conversation: Conversation, rows: list[InboxRow]) -> bool:
    """Whether the first row arrived while a turn was open: behind it, or just before it ended."""
    if conversation.blocked or len(rows) < 2:
        return True
    return bridge.turns.has_closed_since(conversation.id, rows[0].received_at)


def _newest(bridge: Bridge, conversation: Conversation, rows: list[InboxRow]) -> list[InboxRow]:
    """Let the newest of what waits behind a turn supersede it, and the others; return what still waits.

    The turn is read before the rows, and only the turn as it was read is ended: what has become a turn of its own
    meanwhile is never taken for something older.
    """
    admitted = {row.id for row in rows}
    for _ in range(RACES):
        turn = bridge.turns.open_of(conversation.id)
        if turn is None or turn.state in TERMINAL:
            return _supersede_rows(bridge, rows) if turn is None and conversation.blocked else rows
        behind = _behind(bridge, turn)
        if not behind or behind[-1].id not in admitted:
            return rows  # nothing newer, or so new that another flush decides about it
        left = _supersede_rows(bridge, behind)
        if end_turn(bridge, turn, SUPERSEDED):
            log.info("turn_superseded", turn_id=turn.id, trace_id=turn.trace_id)
            return left
    return rows


def _behind(bridge: Bridge, turn: Turn) -> list[InboxRow]:
    """Return the questions that wait behind a turn, in order."""
    pending = bridge.inbox.pending(turn.chat_id, most_read(bridge))
    return in_order([row for row in pending if row.id not in turn.message_ids and command_of(row.items) is None])


def _supersede_rows(bridge: Bridge, rows: list[InboxRow]) -> list[InboxRow]:
    """Skip all but the newest, which is returned: done before anything else, it may be done again."""
    if older := [row.id for row in rows[:-1]]:
        bridge.inbox.skip(older, SUPERSEDED)
        log.info("messages_superseded", chat_id=rows[-1].chat_id, messages=len(older))
    return rows[-1:]
