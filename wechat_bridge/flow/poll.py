"""Serve one link of a channel's poll chain."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from functools import partial
from typing import Any

from wechat_bridge.channels.base import PollAnswer, PollCut, Polls
from wechat_bridge.errors import (
    BridgeError,
    LedgerUnavailable,
    OwnerStale,
    PlatformUnavailable,
    SessionExpired,
)
from wechat_bridge.flow import intake, spill
from wechat_bridge.flow.after_polls import AFTER_POLLS
from wechat_bridge.flow.chain import chain_next_poll, jittered
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.link import Link
from wechat_bridge.flow.poll_failures import in_error, poll_failed, session_expired
from wechat_bridge.flow.poll_lock import let_go, take_lock
from wechat_bridge.model import keys
from wechat_bridge.model.channel import Channel, ChannelStatus, StatusReason
from wechat_bridge.observe import alerts, metrics
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.clock import boot_seconds

log = logger(__name__)

LINK_SLACK_SECONDS = 60.0
STALE_RETRY_SECONDS = 2.0
FRESH_LOCK_SECONDS = 1.0


class Slice(Enum):
    """What a slice does after a poll, when it does not end."""

    GO_ON = "go on"  # with another poll, at once


Next = float | Slice | None
"""What follows a poll: another one in this slice, the delay of the next link in seconds, or None: the chain ends."""


def poll_channel(bridge: Bridge, share_id: str, generation: int) -> None:
    """Take the link after ``generation`` and serve it; do nothing when it is not to be had."""
    if bridge.stopping.is_set():
        bridge.doorbells.ring_poll(share_id, generation)
        return
    link = _take(bridge, share_id, generation)
    if link is None:
        return
    delay: float | None = bridge.settings.poll.failure_delay_seconds
    try:
        delay = _serve(bridge, link)
    finally:
        with AFTER_POLLS.place():
            chain_next_poll(bridge, share_id, link.channel.generation, delay)


def _take(bridge: Bridge, share_id: str, generation: int) -> Link | None:
    began = boot_seconds()
    try:
        bridge.alive.check()
    except OwnerStale:
        bridge.doorbells.ring_poll(share_id, generation, STALE_RETRY_SECONDS)
        return None
    if not take_lock(bridge, share_id, generation + 1):
        return None
    channel: Channel | None = None
    claim, now = keys.new_token(), bridge.clock.now()
    try:
        channel = bridge.channels.take_link(share_id, generation, bridge.owner, now, _link_deadline(bridge), claim)
        if channel is None:
            _end_if_not_pollable(bridge, share_id)
            return None
    except LedgerUnavailable:
        # The ledger may take the link for us all the same, a moment later; nobody would serve it until its deadline.
        bridge.unfinished.add(f"take {claim}", partial(bridge.channels.untake_link, share_id, claim, now))
        raise
    finally:
        if channel is None:
            let_go(bridge, share_id, generation + 1)
            bridge.locks.unannounce(share_id, bridge.owner)
    return _link(bridge, channel, began)


def _link(bridge: Bridge, channel: Channel, held_at: float) -> Link | None:
    try:
        account = bridge.channels.vault.open(channel.sealed_account or "")
    except BridgeError as error:
        log.warning("credentials_unreadable", share_id=channel.id, error=str(error))
        bridge.channels.record_poll(channel, in_error(StatusReason.LOGIN_NEEDED, str(error)))
        chain_next_poll(bridge, channel.id, channel.generation, None)
        return None
    return Link(channel, account, channel.sync_buf, channel.hold_hint_seconds, channel.suspect_polls, held_at)


def _end_if_not_pollable(bridge: Bridge, share_id: str) -> None:
    channel = bridge.channels.get(share_id)
    if channel and not channel.is_pollable:
        bridge.channels.end_chain(channel)
        log.info("chain_ended", share_id=share_id, reason=channel.status_reason.value, enabled=channel.enabled)


def _link_deadline(bridge: Bridge) -> datetime:
    return bridge.clock.after(bridge.settings.poll.total_deadline_seconds + LINK_SLACK_SECONDS)


def _serve(bridge: Bridge, link: Link) -> float | None:
    """Serve up to ``polls_per_task`` polls; return the delay before the next link, or None to end the chain."""
    spill.drain_channel(bridge, link.share_id)
    for number in range(bridge.settings.poll.polls_per_task):
        if not _may_poll(bridge, link, is_first=number == 0):
            return 0.0
        outcome = _poll_once(bridge, link)
        if outcome is not Slice.GO_ON:
            return outcome
    return 0.0


def _may_poll(bridge: Bridge, link: Link, is_first: bool) -> bool:
    """Whether the link is still ours and nothing else should come first.

    The lock was taken an instant ago when the first poll starts, unless this process was frozen in between. An answer
    that took long may be from before a freeze, so it counts for nothing.
    """
    if bridge.stopping.is_set():
        return False
    bridge.alive.check()
    if is_first and boot_seconds() - link.held_at < FRESH_LOCK_SECONDS:
        return True
    began = boot_seconds()
    waiting = bridge.locks.keep(link.share_id, bridge.owner, link.channel.generation)
    is_fresh = boot_seconds() - began < FRESH_LOCK_SECONDS
    return waiting is not None and is_fresh and (is_first or waiting == 0)


def _poll_once(bridge: Bridge, link: Link) -> Next:
    started = boot_seconds()
    door = bridge.doors[link.channel.kind]
    assert isinstance(door, Polls)  # only channels of such kinds are pollable
    try:
        answer = door.poll(link.account, link.cursor, link.hold_hint_seconds)
    except PollCut:
        return 0.0
    except SessionExpired as error:
        return session_expired(bridge, link, error)
    except PlatformUnavailable as error:
        metrics.polls_total.labels("failed").inc()
        return poll_failed(bridge, link, error)
    metrics.polls_total.labels("messages" if answer.messages else "empty").inc()
    with AFTER_POLLS.place():
        return _stored(bridge, link, answer, started)


def _stored(bridge: Bridge, link: Link, answer: PollAnswer, started: float) -> Next:
    try:
        intake.store(bridge, link.channel, answer.messages, "poll")
    except LedgerUnavailable as error:
        spill.keep(bridge, link.channel, answer.messages, "poll", error)
        return bridge.settings.poll.failure_delay_seconds
    return _moved_on(bridge, link, answer, boot_seconds() - started)


def _moved_on(bridge: Bridge, link: Link, answer: PollAnswer, elapsed_seconds: float) -> Next:
    """Every row is durable and due: move the cursor, and decide when to poll again."""
    if not bridge.channels.record_poll(link.channel, _success(bridge, link, answer)):
        return 0.0
    if link.channel.last_error is not None:
        bridge.locks.clear_failures(link.share_id, bridge.settings.poll.failure_window_seconds)
        alerts.clear("poll_failures", link.share_id)
        link.channel = link.channel.model_copy(update={"last_error": None, "status": ChannelStatus.ONLINE})
    link.cursor = answer.cursor or link.cursor
    link.hold_hint_seconds = answer.hold_hint_seconds or link.hold_hint_seconds
    if answer.messages:
        return Slice.GO_ON
    left = jittered(bridge, bridge.settings.poll.empty_poll_delay_seconds) - elapsed_seconds
    return Slice.GO_ON if left <= 0 else left


def _success(bridge: Bridge, link: Link, answer: PollAnswer) -> dict[str, Any]:
    now = bridge.clock.now()
    changes: dict[str, Any] = {
        "last_poll_at": now,
        "link_deadline": _link_deadline(bridge),
        "last_error": None,
        "suspect_polls": _count_suspect(bridge, link, answer),
    }
    if answer.cursor:
        changes["sync_buf"] = answer.cursor
    if answer.hold_hint_seconds:
        changes["hold_hint_seconds"] = answer.hold_hint_seconds
    if answer.messages:
        changes["last_message_at"] = now
    if link.channel.status is not ChannelStatus.ONLINE:
        changes |= {"status": "online", "status_reason": "", "probe_at": None, "probe_delay_seconds": None}
    return changes


def _count_suspect(bridge: Bridge, link: Link, answer: PollAnswer) -> int:
    link.suspect_polls = link.suspect_polls + 1 if answer.suspect else 0
    if link.suspect_polls == bridge.settings.poll.suspect_after:
        alerts.raise_("login_suspect", link.share_id, "WeChat answers without content; if it stays so, log in again")
    elif not answer.suspect:
        alerts.clear("login_suspect", link.share_id)
    return link.suspect_polls
