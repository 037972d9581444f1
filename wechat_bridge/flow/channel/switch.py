"""Switch a channel on or off, probe it, log it out, remove it."""

from __future__ import annotations

from wechat_bridge.errors import BrokerUnavailable, ChannelBusy, ChannelUnknown, NotConfigured
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.seed import ring_channel
from wechat_bridge.model.channel import Channel
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def switch(bridge: Bridge, share_id: str, enabled: bool) -> None:
    """Let a channel receive, or end its chain with the poll that is open. Raises ChannelUnknown, LedgerUnavailable.

    What the open poll still returns is stored. Whatever Redis cannot do now happens a little later by itself.
    """
    if not bridge.channels.set_enabled(share_id, enabled, bridge.clock.now()):
        raise unknown(share_id)
    log.info("channel_switched", share_id=share_id, enabled=enabled)
    try:
        if enabled:
            ring_channel(bridge, share_id)
        else:
            bridge.locks.revoke(share_id)
    except BrokerUnavailable as error:
        # On: the seeder rings. Off: the chain ends after the slice that is being served.
        log.warning("switch_delayed", share_id=share_id, error=str(error))


def probe(bridge: Bridge, share_id: str) -> Channel:
    """Ask WeChat now whether a channel works, instead of when its next poll or probe is due; return it as it was.

    Raises ChannelUnknown, and NotConfigured when only a person can make it work.
    """
    channel = bridge.channels.get(share_id)
    if channel is None:
        raise unknown(share_id)
    if not channel.enabled:
        raise NotConfigured(f"channel {share_id} is disabled; enable it first")
    if not channel.is_pollable:
        raise NotConfigured(f"channel {share_id} is not logged in ({channel.status_reason.value}); log it in")
    switch(bridge, share_id, enabled=True)
    return channel


def log_out(bridge: Bridge, share_id: str) -> None:
    """Remove the credentials of a channel and end its chain. Raises ChannelUnknown, LedgerUnavailable.

    Messages, replies and dead letters stay; replies that are under way wait for the next login. WeChat itself cannot
    be told: the account stays bound there until somebody scans again.
    """
    if not bridge.accounts.log_out(share_id):
        raise unknown(share_id)
    log.info("logged_out", share_id=share_id)
    _end_in_redis(bridge, share_id)


def remove(bridge: Bridge, share_id: str, *, is_forced: bool = False) -> int:
    """Remove a channel with its credentials, and keep its history; return how many replies were under way.

    Raises ChannelUnknown, and ChannelBusy while there are any, unless ``is_forced``.
    """
    channel = bridge.channels.get(share_id)
    if channel is None:
        raise unknown(share_id)
    under_way = bridge.turns.count_open(share_id)
    if under_way and not is_forced:
        advice = "disable the channel and wait until they have ended, or remove it with --force"
        raise ChannelBusy(f"{under_way} replies of channel {share_id} are under way: {advice}")
    bridge.accounts.remove(channel)
    log.info("channel_removed", share_id=share_id, under_way=under_way)
    _end_in_redis(bridge, share_id)
    return under_way


def unknown(share_id: str) -> ChannelUnknown:
    """Return the error for a channel that does not exist."""
    return ChannelUnknown(f"there is no channel {share_id}; `wechat-bridge channel list` shows those there are")


def _end_in_redis(bridge: Bridge, share_id: str) -> None:
    try:
        bridge.locks.revoke(share_id)
        bridge.logins.forget(share_id)
    except BrokerUnavailable as error:
        # The ledger refuses what the chain still does, and a login in progress ends by itself.
        log.warning("end_delayed", share_id=share_id, error=str(error))
