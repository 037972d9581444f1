"""The record of every getupdates of one bot: which are open, how long each stayed open, and which overlapped."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field

from wechat_bridge.simulators.ilink.connection import peer_has_left, peer_name
from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wakeup import Wakeup

# Overlaps remembered per bot; they are counted beyond that.
OVERLAP_LOG_SIZE = 1_000


@dataclass(slots=True, eq=False)
class Poll:
    """One getupdates request, from its arrival to its answer. Times are Unix seconds."""

    cursor: str
    transport: asyncio.BaseTransport | None
    wakeup: Wakeup
    started_at: float = field(default_factory=time.time)
    ended_at: float | None = None
    peer: str = ""
    # messages, empty, stale_token, superseded, scripted or client_closed
    outcome: str = "client_closed"
    messages: int = 0
    expelled: bool = False
    superseded: bool = False

    def as_json(self) -> Json:
        """The row of the poll log; `ended_at` is null while the poll is open."""
        names = ("started_at", "ended_at", "outcome", "messages", "cursor", "peer")
        return {name: getattr(self, name) for name in names}


class OpenPolls:
    """How many polls are open on the whole server; `changed` is notified when that changes."""

    def __init__(self) -> None:
        self.count = 0
        self.max_count = 0
        self.changed = Wakeup()

    def add(self, change: int) -> None:
        """Count one more (+1) or one less (-1)."""
        self.count += change
        self.max_count = max(self.max_count, self.count)
        self.changed.notify()


class PollLog:
    """The polls of one bot, counted into those of the whole server."""

    def __init__(self, size: int, server: OpenPolls) -> None:
        self.open: set[Poll] = set()
        self.max_open = 0
        self.overlap_count = 0
        self.overlaps: deque[Json] = deque(maxlen=OVERLAP_LOG_SIZE)
        self._rows: deque[Poll] = deque(maxlen=size)
        self._server = server

    def begin(self, cursor: str, transport: asyncio.BaseTransport | None, wakeup: Wakeup) -> Poll:
        """Record a new poll, and an overlap for each other one whose client is still there."""
        poll = Poll(cursor, transport, wakeup, peer=peer_name(transport))
        for other in self.open:
            if not peer_has_left(other.transport):
                self._note_overlap(other, poll)
        self.open.add(poll)
        self._rows.append(poll)
        self.max_open = max(self.max_open, len(self.open))
        self._server.add(1)
        return poll

    def end(self, poll: Poll) -> None:
        """Record the end of a poll; a second call does nothing."""
        if poll in self.open:
            self.open.remove(poll)
            poll.ended_at = time.time()
            self._server.add(-1)

    def wake(self) -> None:
        """Let every open poll look again at what there is for it."""
        for poll in self.open:
            poll.wakeup.notify()

    def as_json(self) -> list[Json]:
        """The remembered polls, oldest first."""
        return [poll.as_json() for poll in self._rows]

    def _note_overlap(self, first: Poll, second: Poll) -> None:
        self.overlap_count += 1
        self.overlaps.append({"at": second.started_at, "first": first.as_json(), "second": second.as_json()})
