"""A customer service account as a channel."""

from __future__ import annotations

from wechat_bridge.errors import AccountTaken
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.wecom.app import add_channel
from wechat_bridge.model.channel import Channel, ChannelKind
from wechat_bridge.model.wecom import WecomSecrets
from wechat_bridge.model.wecom_kf import KfSettings, service_of


def add_customer_service(
    bridge: Bridge, share_id: str, settings: KfSettings, secrets: WecomSecrets, name: str = "", engine: str = "echo"
) -> Channel:
    """Add a channel for an account. It is online at once, and read from now on whether WeCom rings or not.

    What customers said before stays unanswered. ``secrets`` are those of the app that serves the account. Raises
    AccountTaken (another channel reads it), ChannelExists, NotConfigured without a key to seal the secrets with, and
    LedgerUnavailable.
    """
    _check_free(bridge, settings.account_id, share_id)
    channel = add_channel(bridge, ChannelKind.WECOM_KF, share_id, settings, secrets, name, engine)
    bridge.services.add(settings.account_id, share_id, bridge.clock.now())
    return channel


def _check_free(bridge: Bridge, account_id: str, share_id: str) -> None:
    """Raise AccountTaken while another channel reads the account: each would answer every message."""
    known = bridge.services.get(account_id)
    if known is None or known.share_id == share_id:
        return
    other = bridge.channels.get(known.share_id)
    if other is not None and service_of(other.settings) == account_id:
        raise AccountTaken(f"customer service account {account_id} is read by channel {other.id}; remove that first")
