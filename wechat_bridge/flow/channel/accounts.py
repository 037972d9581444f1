"""How the sealed account of a channel is opened, whatever its kind."""

from __future__ import annotations

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.wecom.app import app_of
from wechat_bridge.model.channel import CALLED_KINDS, Account, Channel


def opened(bridge: Bridge, channel: Channel) -> Account:
    """Return what the doors of a channel need.

    Raises NotConfigured (no key, none that fits, or no credentials) and DocumentInvalid.
    """
    if channel.kind in CALLED_KINDS:
        return app_of(bridge, channel)[1]
    return bridge.channels.vault.open(channel.sealed_account or "")
