"""One bot ("channel account"): its messages, how far they were handed out, and what it may still send."""

from __future__ import annotations

import base64
import binascii
import time
from collections import deque
from dataclasses import asdict, dataclass, field
from typing import Any

from wechat_bridge.simulators.ilink.options import IlinkOptions
from wechat_bridge.simulators.ilink.polls import OpenPolls, PollLog
from wechat_bridge.simulators.json_types import Json


@dataclass(slots=True)
class ContextToken:
    """One context token and what it was used for. `issued_at` is in seconds of the virtual clock."""

    user_id: str
    issued_at: float
    sends: int = 0


@dataclass(slots=True)
class Batch:
    """Messages written to one poll; `end` is the position of the cursor sent along. `at` is in Unix seconds."""

    message_ids: list[str]
    end: int
    reason: str = ""
    at: float = field(default_factory=time.time)

    def as_json(self) -> Json:
        """The row of `lost_batches` and `unacknowledged_batches`."""
        return asdict(self)


class Bot:
    """The server's side of one bot. A new login makes a new `Bot`, even if the bot id stays the same."""

    def __init__(
        self, login: int, bot_id: str, token: str, user_id: str, options: IlinkOptions, polls: OpenPolls
    ) -> None:
        self.login = login
        self.bot_id = bot_id
        self.token = token
        self.user_id = user_id
        self.token_valid = True
        self.created_at = self.used_at = 0.0
        self.overrides: Json = {}
        self.options = options
        self.polls = PollLog(options.poll_log_size, polls)
        self.messages: list[Any] = []
        self.handed_out = 0
        self.seq = 0
        self.context_tokens: dict[str, ContextToken] = {}
        self.newest_token: dict[str, str] = {}
        self.user_wrote_at: dict[str, float] = {}
        self.tickets: set[str] = set()
        self.typing: list[Json] = []
        self.notifications: list[Json] = []
        self.client_ids: dict[str, str] = {}
        self.sent_at: deque[float] = deque()
        self.blocked_until = 0.0
        self.lost_batches: list[Batch] = []
        self.unacknowledged_batches: list[Batch] = []
        self.foreign_cursors = 0
        self._unconfirmed: deque[Batch] = deque()

    def use_options(self, server: IlinkOptions) -> None:
        """Apply the server's switches under this bot's own."""
        self.options = server.changed(self.overrides)

    def issue_context_token(self, token: str, user_id: str, at: float) -> None:
        """Make a context token usable; `at` is the virtual time the user wrote."""
        self.context_tokens[token] = ContextToken(user_id, at)
        self.newest_token[user_id] = token
        self.user_wrote_at[user_id] = at

    def cursor(self, position: int) -> str:
        """The opaque cursor that stands behind the first `position` messages of this login."""
        return base64.b64encode(f"{self.bot_id}/{self.login}/{position}".encode()).decode("ascii")

    def position(self, cursor: str) -> int | None:
        """How many messages lie before a cursor: 0 for the empty one, None for one this login never gave out."""
        if not cursor:
            return 0
        try:
            bot_id, login, position = base64.b64decode(cursor, validate=True).decode().rsplit("/", 2)
        except (binascii.Error, ValueError):
            return None
        own = bot_id == self.bot_id and login == str(self.login) and position.isdigit()
        return int(position) if own else None

    def acknowledge(self, position: int | None) -> None:
        """Note which batches a new poll's cursor leaves out: the client may never have stored those."""
        if position is None:
            self.foreign_cursors += 1
            return
        while self._unconfirmed and self._unconfirmed[0].end <= position:
            self._unconfirmed.popleft()
        for batch in self._unconfirmed:
            batch.reason = batch.reason or "older cursor"
            self.unacknowledged_batches.append(batch)
        self._unconfirmed.clear()

    def hand_out(self, start: int) -> tuple[list[Any], Batch]:
        """Take the messages from `start` on, as many as one answer holds."""
        messages = self.messages[start : start + self.options.batch_limit]
        batch = Batch([message_id(message) for message in messages], start + len(messages))
        self.handed_out = max(self.handed_out, batch.end)
        if self.options.cursor == "strict":
            self._unconfirmed.append(batch)
        return messages, batch

    def lose(self, batch: Batch, reason: str) -> None:
        """Record a batch that was written to a dead connection; a server that redelivers loses nothing."""
        if self.options.cursor == "strict":
            batch.reason = reason
            self.lost_batches.append(batch)


def message_id(message: Any) -> str:
    """The id of a message as text; empty when it has none, as raw messages may."""
    return str(message.get("message_id") or "") if isinstance(message, dict) else ""
