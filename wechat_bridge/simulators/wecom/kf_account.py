"""One customer service account (微信客服): its message log, its customers and what it has handed out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.codes import ApiError
from wechat_bridge.simulators.wecom.identifiers import random_text

EVENT_TOKEN_SECONDS = 600.0
HISTORY_SECONDS = 3 * 86_400.0
REPLY_WINDOW_SECONDS = 48 * 3_600.0
REPLIES_PER_MESSAGE = 5
CODE_SECONDS = 20.0
CURSOR = re.compile(r"4gw7MepFLfgF2VC5n-([0-9a-f]{1,12})-([0-9a-f]{1,4})$")
NEW, BOT, QUEUE, HUMAN, ENDED = range(5)
# What an app may change a state to; a session a human serves is no longer the app's.
TRANSITIONS = {NEW: {BOT, QUEUE, HUMAN, ENDED}, BOT: {QUEUE, HUMAN, ENDED}, QUEUE: {HUMAN, ENDED}, HUMAN: {ENDED}}


@dataclass
class Customer:
    """One person who writes to an account. Times in Unix seconds; `replies` since the last message."""

    external_userid: str
    state: int = NEW
    servicer_userid: str = ""
    last_message_at: float = float("-inf")
    replies: int = 0

    def fail_type(self, now: float) -> int:
        """Why a message to the customer would fail: 4 more than 48 h, 6 more than 5 messages, 0 it would not."""
        if now - self.last_message_at > REPLY_WINDOW_SECONDS:
            return 4
        return 6 if self.replies >= REPLIES_PER_MESSAGE else 0


@dataclass
class KfAccount:
    """An account and the app that serves it."""

    open_kfid: str
    app: str
    name: str = ""
    log: list[Json] = field(default_factory=list)
    customers: dict[str, Customer] = field(default_factory=dict)
    used_msgids: set[str] = field(default_factory=set)
    event_tokens: dict[str, float] = field(default_factory=dict)
    codes: dict[str, tuple[str, float]] = field(default_factory=dict)

    def customer(self, external_userid: str) -> Customer:
        """The customer of an id, new ones included."""
        return self.customers.setdefault(external_userid, Customer(external_userid))

    def new_event_token(self, now: float) -> str:
        """A token for sync_msg, good for 10 minutes."""
        token = f"ENC{random_text(44)}"
        self.event_tokens[token] = now + EVENT_TOKEN_SECONDS
        return token

    def new_code(self, external_userid: str, now: float) -> str:
        """A code for one send_msg_on_event within 20 s."""
        code = random_text(40)
        self.codes[code] = (external_userid, now + CODE_SECONDS)
        return code

    def add(self, now: float, **fields: object) -> str:
        """Append a message or event to the log; returns its msgid, longer than the 32 bytes send_msg takes."""
        msgid = str(fields.pop("msgid", "") or random_text(44))
        self.log.append({"msgid": msgid, "send_time": int(now), **fields})
        return msgid

    def add_event(self, now: float, event_type: str, external_userid: str, **fields: object) -> str:
        """Append a system event; in events the ids stand inside ``event``."""
        event = {"event_type": event_type, "open_kfid": self.open_kfid, "external_userid": external_userid, **fields}
        return self.add(now, origin=4, msgtype="event", event=event)


def read_cursor(account: KfAccount, cursor: str, now: float) -> tuple[int, int]:
    """Where a page begins, and how many empty pages stood there already; without cursor at the oldest of 3 days.

    Raises:
        ApiError: 40058, it is no cursor.
    """
    oldest = next(
        (at for at, row in enumerate(account.log) if row["send_time"] >= now - HISTORY_SECONDS), len(account.log)
    )
    if not cursor:
        return oldest, 0
    found = CURSOR.match(cursor)
    if found is None:
        raise ApiError(40058, "cursor")
    return max(oldest, int(found[1], 16)), int(found[2], 16)


def write_cursor(begin: int, empty_pages: int) -> str:
    """The text of a place in the log; at most 64 bytes."""
    return f"4gw7MepFLfgF2VC5n-{begin:x}-{empty_pages:x}"
