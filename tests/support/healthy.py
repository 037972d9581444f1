"""A ledger in which everything is well, for tests that spoil one thing."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import count
from typing import Any

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.roles import ROLES
from wechat_bridge.model import keys
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.model.turn import Turn
from wechat_bridge.model.worker import Worker
from wechat_bridge.wiring import Wired

_numbers = count()


def empty(wired: Wired) -> Bridge:
    """Remove everything from the module's ledger and broker."""
    bridge = wired.bridge
    stores = (bridge.channels, bridge.inbox, bridge.conversations, bridge.turns, bridge.dead_letters, bridge.workers)
    for store in stores:
        store.collection.delete_many({})
    wired.redis.flushdb()
    return bridge


def announce_all(bridge: Bridge, slots: int = 10) -> None:
    """Let a process of every kind be alive."""
    for kind, queues in ROLES.items():
        announce(bridge, f"host:1:{kind}", queues=queues, slots=slots)
    announce(bridge, "host:1:beat", kind="beat")


def announce(bridge: Bridge, owner: str, age_seconds: float = 0, **fields: Any) -> None:
    """Let a process be seen ``age_seconds`` ago."""
    seen_at = bridge.clock.now() - timedelta(seconds=age_seconds)
    values: dict[str, Any] = {"kind": "worker", "seen_at": seen_at, "started_at": seen_at, "version": "0"}
    bridge.workers.announce(Worker(id=owner, **(values | fields)))


def add_channel(bridge: Bridge, share_id: str, polled_seconds_ago: float = 1, **fields: Any) -> None:
    """Add an online channel that was polled a moment ago."""
    now = bridge.clock.now()
    values: dict[str, Any] = {
        "status": "online",
        "status_reason": "",
        "sealed_account": "sealed",
        "last_poll_at": now - timedelta(seconds=polled_seconds_ago),
        "login_time": now - timedelta(days=1),
        "next_poll_at": now,
    }
    bridge.channels.add(Channel(id=share_id, **(values | fields)))


def open_turn(bridge: Bridge, due_seconds_ago: float = 0, **fields: Any) -> Turn:
    """Open a turn that became due a while ago."""
    due, name = bridge.clock.after(-due_seconds_ago), f"message-{next(_numbers)}"
    values: dict[str, Any] = {
        "id": keys.turn_id("channel", name),
        "share_id": "channel",
        "chat_id": keys.chat_id("channel", name),
        "user_id": name,
        "message_ids": (),
        "next_attempt_at": due,
        "ring_at": due,
        "trace_id": "",
    }
    turn = Turn(**(values | fields))
    bridge.turns.open(turn)
    return turn


def letter(letter_id: str, share_id: str, failed_at: datetime) -> DeadLetter:
    """A dead letter of a channel."""
    return DeadLetter(
        id=letter_id, share_id=share_id, chat_id="c", stage="reply", error_class="", error="", traceback="",
        attempts=4, original=[], trace_id="", first_failure_at=failed_at, last_failure_at=failed_at,
    )  # fmt: skip
