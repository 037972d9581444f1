"""Switch a channel on or off."""

from __future__ import annotations

from wechat_bridge.errors import ChannelUnknown
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.seed import ring_channel


def enable_channel(bridge: Bridge, share_id: str) -> None:
    """Let a channel be polled again, and ring it at once. Raises ChannelUnknown."""
    if not bridge.channels.set_enabled(share_id, True, bridge.clock.now()):
        raise ChannelUnknown(f"there is no channel {share_id}; `wechat-bridge channel list` shows those there are")
    ring_channel(bridge, share_id)


def disable_channel(bridge: Bridge, share_id: str) -> None:
    """End a channel's chain with its open poll, whose messages are still stored. Raises ChannelUnknown."""
    if not bridge.channels.set_enabled(share_id, False, bridge.clock.now()):
        raise ChannelUnknown(f"there is no channel {share_id}; `wechat-bridge channel list` shows those there are")
    bridge.locks.revoke(share_id)
