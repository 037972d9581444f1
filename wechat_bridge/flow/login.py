"""A WeChat account was logged in: its channel receives from now on, and what waited for the login goes out."""

from __future__ import annotations

from wechat_bridge.errors import BrokerUnavailable, ChannelUnknown
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.park import release_after_login
from wechat_bridge.model.channel import Login
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def complete_login(bridge: Bridge, share_id: str, login: Login) -> None:
    """Store the credentials, end the chain of the login before, start a new one, release parked replies.

    Raises ChannelUnknown, AccountTaken, NotConfigured (no key to encrypt with) and LedgerUnavailable. Once the
    credentials are stored the login holds: whatever Redis cannot do now, the seeder and the sweep do later.
    """
    if bridge.channels.get(share_id) is None:
        raise ChannelUnknown(f"there is no channel {share_id}; add it first: wechat-bridge channel add {share_id}")
    bridge.channels.log_in(share_id, login, bridge.clock.now())
    log.info("logged_in", share_id=share_id, account_id=login.account.account_id)
    _start_chain(bridge, share_id)
    release_after_login(bridge, share_id)


def _start_chain(bridge: Bridge, share_id: str) -> None:
    channel = bridge.channels.get(share_id)
    try:
        bridge.locks.revoke(share_id)
        bridge.locks.clear_failures(share_id, bridge.settings.poll.failure_window_seconds)
        if channel is not None:
            bridge.doorbells.ring_poll(share_id, channel.generation)
    except BrokerUnavailable as error:
        log.warning("chain_start_delayed", share_id=share_id, error=str(error))
