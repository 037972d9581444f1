"""Make due what a process stored that died before it made it due; the sweep looks for it."""

from __future__ import annotations

from datetime import timedelta

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.intake import make_due
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.ledger import LONG_AGO

log = logger(__name__)

OVERLAP = timedelta(seconds=120)
SLACK_SECONDS = 10.0
MOST_AT_ONCE = 500
"""So many conversations are looked at in one pass: thousands may wait for an engine that is down."""


class StuckRows:
    """One per process; remembers up to when it has looked, and which conversations it has yet to look at."""

    def __init__(self) -> None:
        self._looked_until = LONG_AGO
        self._to_see: dict[str, None] = {}

    def begin_anew(self) -> None:
        """Look at every waiting row again."""
        self._looked_until = LONG_AGO

    def look(self, bridge: Bridge) -> None:
        """Look at the conversations of each waiting row once, with overlap, the longest known first.

        Those behind an open turn, whose own rows may wait too, are looked at again until it has ended.
        """
        until = bridge.clock.now() - timedelta(seconds=bridge.settings.debounce.most_seconds + SLACK_SECONDS)
        self._to_see |= dict.fromkeys(sorted(bridge.inbox.waiting_chats(self._looked_until - OVERLAP, until)))
        self._looked_until = until
        chats = set(list(self._to_see)[:MOST_AT_ONCE])
        idle = chats - bridge.conversations.due_among(chats)
        busy = bridge.turns.busy_among(idle)
        for chat_id in sorted(idle - busy):
            rows = bridge.inbox.pending(chat_id)
            log.warning("stuck_messages_made_due", chat_id=chat_id, count=len(rows))
            make_due(bridge, rows)
        left = {chat_id: None for chat_id in self._to_see if chat_id not in chats}
        self._to_see = left | dict.fromkeys(sorted(busy))
