"""Are the channels polled, and what keeps those that are not?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

from wechat_bridge.flow.health.check import Check, listed
from wechat_bridge.flow.health.readings import LedgerReading, is_polled
from wechat_bridge.flow.poll import LINK_SLACK_SECONDS
from wechat_bridge.flow.roles import POLL_QUEUE
from wechat_bridge.model.channel import Channel, ChannelKind, ChannelStatus, StatusReason
from wechat_bridge.settings import Settings

MARGIN_SECONDS = 60.0
"""A chain stands still when its last poll is older than one poll and the pause after it may take, and this."""


def of_channels(ledger: LedgerReading, settings: Settings) -> list[Check]:
    """Judge the poll chains as a whole, then list the channels that want a person."""
    return [_slots(ledger), _chains(ledger, settings), _attention(ledger, settings)]


def poll_slots(ledger: LedgerReading) -> int:
    """Return how many polls can be open at once on the living workers."""
    return sum(worker.slots for worker in ledger.workers if POLL_QUEUE in worker.queues)


def oldest_poll_age_seconds(ledger: LedgerReading, settings: Settings) -> float:
    """Return how long ago the channel that waits longest was polled, 0 without channels."""
    return ledger.age_seconds([_progress(ledger, channel, settings) for channel in ledger.polled_channels])


def _slots(ledger: LedgerReading) -> Check:
    channels, slots = len(ledger.polled_channels), poll_slots(ledger)
    ok = channels <= slots
    detail = f"{channels} channels, {slots} slots"
    return Check(name="poll_slots", ok=ok, detail=detail if ok else f"add a poll worker: {detail}")


def _chains(ledger: LedgerReading, settings: Settings) -> Check:
    """Channels that take turns on too few slots are polled less often, which is not a chain that stands still."""
    rounds = max(1, math.ceil(len(ledger.polled_channels) / max(1, poll_slots(ledger))))
    still = [
        f"{channel.id} for {age:.0f} s"
        for channel in ledger.polled_channels
        if (age := _age_seconds(ledger, channel, settings)) > _allowed_seconds(channel, rounds, settings)
        and not _explained(ledger, channel)
    ]
    if not still:
        age = oldest_poll_age_seconds(ledger, settings)
        detail = f"the oldest poll is {age:.0f} s ago" if ledger.polled_channels else "there is no channel to poll"
        return Check(name="poll_chains", ok=True, detail=detail)
    detail = f"not polled: {listed(still)}. Look at beat, the ops worker and the poll worker, in this order"
    return Check(name="poll_chains", ok=False, detail=detail)


def _allowed_seconds(channel: Channel, rounds: int, settings: Settings) -> float:
    hold = channel.hold_hint_seconds or settings.poll.default_hold_seconds
    return (hold + settings.poll.empty_poll_delay_seconds) * rounds + MARGIN_SECONDS


def _age_seconds(ledger: LedgerReading, channel: Channel, settings: Settings) -> float:
    return (ledger.now - _progress(ledger, channel, settings)).total_seconds()


def _progress(ledger: LedgerReading, channel: Channel, settings: Settings) -> datetime:
    """Return the last sign that a channel is polled: a poll that worked, the login, or a poll that is open now.

    Without the open one, every channel would seem to stand still for the first poll after an outage.
    """
    times = [time for time in (channel.last_poll_at, channel.login_time) if time is not None]
    if _in_hand(ledger, channel) and channel.link_deadline is not None:
        link_seconds = settings.poll.total_deadline_seconds + LINK_SLACK_SECONDS
        times.append(channel.link_deadline - timedelta(seconds=link_seconds))
    return max(times, default=channel.created_at or ledger.now)


def _in_hand(ledger: LedgerReading, channel: Channel) -> bool:
    return channel.poll_owner in {worker.id for worker in ledger.workers}


def _explained(ledger: LedgerReading, channel: Channel) -> bool:
    """Whether the chain runs and it is WeChat that fails; then the channel is among those that want attention."""
    if channel.last_error is None:
        return False
    due = channel.next_poll_at
    waits = due is not None and (ledger.now - due).total_seconds() <= MARGIN_SECONDS
    return waits or _in_hand(ledger, channel)


def _attention(ledger: LedgerReading, settings: Settings) -> Check:
    lines = [line for channel in ledger.channels if channel.enabled for line in _complaints(channel, settings)]
    detail = listed(lines) or f"{len(ledger.polled_channels)} online, none wants attention"
    return Check(name="channels", ok=not lines, detail=detail, warning=True)


def _complaints(channel: Channel, settings: Settings) -> Sequence[str]:
    error = f" ({channel.last_error})" if channel.last_error else ""
    if channel.hold is not None and channel.hold.lasts:
        return [f"{channel.id}: nothing goes out since {channel.hold.since:%Y-%m-%d %H:%M} UTC: {channel.hold.error}"]
    if channel.status is ChannelStatus.ERROR:
        if channel.status_reason is StatusReason.LOGIN_NEEDED:
            return [f"{channel.id}: the login has ended{error}, run: wechat-bridge channel login {channel.id}"]
        return [f"{channel.id}: polls failed{error}, probed until WeChat answers again"]
    if channel.last_error and (is_polled(channel) or channel.kind is ChannelKind.WECOM_KF):
        what = "the last poll failed" if is_polled(channel) else "customers are not heard"
        return [f"{channel.id}: {what}{error}, tried again by itself"]
    if channel.suspect_polls >= settings.poll.suspect_after:
        return [f"{channel.id}: WeChat answers without content; if it stays so, log in again"]
    return []
