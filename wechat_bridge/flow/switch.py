"""Switch a channel on or off."""

from __future__ import annotations

from wechat_bridge.errors import BrokerUnavailable, ChannelUnknown
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.seed import ring_channel
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def switch(bridge: Bridge, share_id: str, enabled: bool) -> None:
    """Let a channel receive, or end its chain with the poll that is open. Raises ChannelUnknown, LedgerUnavailable.

    What the open poll still returns is stored. Whatever Redis cannot do now happens a little later by itself.
    """
    if not bridge.channels.set_enabled(share_id, enabled, bridge.clock.now()):
        raise ChannelUnknown(f"there is no channel {share_id}; `wechat-bridge channel list` shows those there are")
    log.info("channel_switched", share_id=share_id, enabled=enabled)
    try:
        if enabled:
            ring_channel(bridge, share_id)
        else:
            bridge.locks.revoke(share_id)
    except BrokerUnavailable as error:
        # On: the seeder rings. Off: the chain ends after the slice that is being served.
        log.warning("switch_delayed", share_id=share_id, error=str(error))
