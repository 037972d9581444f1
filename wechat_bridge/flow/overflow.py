"""Keep what waits in one conversation within the cap: the newest beyond it fail, and their person is told once."""

from __future__ import annotations

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.people.notice import say
from wechat_bridge.model import keys
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.message import InboxRow, in_order
from wechat_bridge.observe.logging import logger

log = logger(__name__)

OVERFLOW = "overflow"
"""Why a message failed: too many of its person waited already."""

BATCH = 200
"""Read so many rows beyond those that may wait, in one flush."""


def most_read(bridge: Bridge) -> int:
    """Return how many waiting rows one flush reads: enough to see what is beyond the cap, however many there are."""
    return bridge.settings.debounce.most_waiting + bridge.settings.debounce.most_messages + BATCH


def within_cap(bridge: Bridge, conversation: Conversation, rows: list[InboxRow]) -> list[InboxRow]:
    """Return those of the waiting questions that may wait; fail the others. Raises LedgerUnavailable.

    Those of the open turn count for nothing. A person is told before the rows fail, under an id that stays the same
    until nothing waits: a process that dies in between has it decided and said again, once.
    """
    most = bridge.settings.debounce.most_waiting
    if len(rows) <= most:
        return rows
    turn = bridge.turns.open_of(conversation.id)
    owned = set(turn.message_ids) if turn else set()
    over = in_order([row for row in rows if row.id not in owned])[most:]
    if over:
        _tell(bridge, conversation, over[0])
        failed = bridge.inbox.fail([row.id for row in over], OVERFLOW)
        log.warning("messages_overflowed", chat_id=conversation.id, messages=failed, most_waiting=most)
    beyond = {row.id for row in over}
    return [row for row in rows if row.id not in beyond]


def _tell(bridge: Bridge, conversation: Conversation, first: InboxRow) -> None:
    """Tell the person, unless it was said since anything last waited; while another notice waits, the next time."""
    text = bridge.settings.reply.overflow_text
    if not text:
        return
    row_id = bridge.conversations.begin_overflow(conversation.id, first.id)
    say(bridge, keys.access_id(conversation.share_id, f"{OVERFLOW}:{row_id}"), conversation, text)
