"""Apps from which WeCom takes nothing until somebody changes their configuration (60020, 48002, a wrong secret).

The first refusal holds the whole channel and alerts once. Its replies are parked without asking WeCom. One of them, at
most one a minute and then ever more seldom, finds out whether it works again; when it does, all go out, oldest first.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from wechat_bridge.errors import AppHeld
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.park import release, release_all
from wechat_bridge.flow.seldom import Seldom
from wechat_bridge.model.channel import Channel
from wechat_bridge.model.hold import Hold, StillHeld, cause_of
from wechat_bridge.observe import alerts
from wechat_bridge.observe.logging import logger

log = logger(__name__)

ALERT = "app_held"
FIRST_PROBE_SECONDS = 60.0
"""A change in WeCom's console works about a minute later."""

LONGEST_PROBE_SECONDS = 300.0
TELL_AGAIN = timedelta(minutes=10)
"""At least between two alerts of one channel, when the cause changes."""

REMIND = timedelta(days=1)
MOST_RELEASED = 300
"""Replies of one channel that one pass releases: WeCom takes 10,000 calls of a corp a minute."""

STRAYS_SECONDS = 60.0
STRAYS_AMONG_HELD_SECONDS = 3_600.0
"""While an app is held its replies have to be read to find those of others: 20,000 take seconds."""


def begin_hold(bridge: Bridge, channel: Channel, error: AppHeld) -> None:
    """Hold a channel whose app was refused, and tell somebody, unless both was done. Raises LedgerUnavailable."""
    if isinstance(error, StillHeld):
        return
    now = bridge.clock.now()
    hold = Hold(
        reason=error.reason,
        cause=cause_of(error),
        error=str(error),
        since=now,
        told_at=now,
        probe_at=bridge.clock.after(FIRST_PROBE_SECONDS),
        delay_seconds=FIRST_PROBE_SECONDS,
    )
    if bridge.holds.begin(channel.id, hold, now - TELL_AGAIN):
        _tell(channel.id, hold)


def check_held(bridge: Bridge, channel: Channel, turn_id: str) -> None:
    """Raise StillHeld while nothing of a channel may go out, unless this turn finds out whether it works again."""
    hold = channel.hold
    if hold is None or hold.probe_at is None or hold.turn_id == turn_id:
        return
    if hold.probe_at > bridge.clock.now() or not _take_probe(bridge, channel.id, hold, turn_id):
        raise StillHeld(f"the app is held since {hold.since:%H:%M}: {hold.error}", hold.reason)


def end_hold(bridge: Bridge, channel: Channel) -> None:
    """WeCom has taken a call of a held channel: the sweep releases what was parked."""
    if channel.is_held and bridge.holds.end(channel.id):
        log.warning("alert_cleared", cause=ALERT, subject=channel.id)


class HeldApps:
    """The sweep's part in it; one per sweeping process, several at once are harmless."""

    def __init__(self) -> None:
        self._strays = Seldom(STRAYS_SECONDS)
        self._strays_among_held = Seldom(STRAYS_AMONG_HELD_SECONDS)

    def look(self, bridge: Bridge, room: int) -> None:
        """Probe the channels whose time has come, and release at most ``room`` replies of those that work again."""
        channels = bridge.holds.all()
        now = bridge.clock.now()
        for channel in channels:
            if channel.hold is None:
                continue
            if channel.hold.lasts:
                _look_after(bridge, channel.id, channel.hold, now)
            else:
                room -= _release(bridge, channel.id, min(room, MOST_RELEASED))
        seldom = self._strays_among_held if channels else self._strays
        if seldom.may("strays"):
            _release_strays(bridge, {channel.id for channel in channels}, room)


def _look_after(bridge: Bridge, share_id: str, hold: Hold, now: datetime) -> None:
    if bridge.holds.claim_reminder(share_id, now, now - REMIND):
        _tell(share_id, hold)
    if hold.probe_at is None or hold.probe_at > now:
        return
    oldest = bridge.turns.held(share_id)[:1]
    for _, turn_id in oldest:  # where nothing waits, the next reply probes
        turn = bridge.turns.get(turn_id)
        if turn is not None and _take_probe(bridge, share_id, hold, turn_id):
            release(bridge, turn, releases=0)


def _take_probe(bridge: Bridge, share_id: str, hold: Hold, turn_id: str) -> bool:
    next_at = bridge.clock.after(hold.delay_seconds)
    longer = min(hold.delay_seconds * 2, LONGEST_PROBE_SECONDS)
    taken = bridge.holds.take_probe(share_id, hold, turn_id, next_at, longer)
    if taken:
        log.info("held_app_probed", share_id=share_id, turn_id=turn_id, next_seconds=hold.delay_seconds)
    return taken


def _release(bridge: Bridge, share_id: str, most: int) -> int:
    """Release what is parked, oldest first; return how many. When nothing is left, the hold is forgotten."""
    waiting = bridge.turns.held(share_id)
    release_all(bridge, [turn_id for _, turn_id in waiting[: max(0, most)]])
    if not waiting:
        bridge.holds.forget(share_id)
    return min(len(waiting), max(0, most))


def _release_strays(bridge: Bridge, held: set[str], room: int) -> None:
    """Release what a process parked that died before it saw that the app works again."""
    for share_id in bridge.turns.held_channels() - held:
        room -= _release(bridge, share_id, min(room, MOST_RELEASED))


def _tell(share_id: str, hold: Hold) -> None:
    advice = f"{hold.error}. Its replies wait and go out by themselves when it works again"
    alerts.raise_(ALERT, share_id, advice, again_seconds=0)
