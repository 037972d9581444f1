"""Switch a channel on or off."""

from __future__ import annotations

from wechat_bridge.errors import BrokerUnavailable, ChannelUnknown
from wechat_bridge.flow.context import Bridge
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def switch(bridge: Bridge, share_id: str, enabled: bool) -> None:
    """Let a channel receive, or end its chain with the poll that is open. Raises ChannelUnknown, LedgerUnavailable.

    What the open poll still returns is stored. A channel that was switched on is seeded within seconds.
    """
    if not bridge.channels.set_enabled(share_id, enabled, bridge.clock.now()):
        raise ChannelUnknown(f"there is no channel {share_id}; `wechat-bridge channel list` shows those there are")
    log.info("channel_switched", share_id=share_id, enabled=enabled)
    if not enabled:
        _revoke(bridge, share_id)


def _revoke(bridge: Bridge, share_id: str) -> None:
    try:
        bridge.locks.revoke(share_id)
    except BrokerUnavailable as error:
        # The slice ends at its next check of the ledger instead, at most polls_per_task polls later.
        log.warning("lock_not_revoked", share_id=share_id, error=str(error))
