"""A WeChat account was logged in: its channel receives from now on, and what waited for the login goes out."""

from __future__ import annotations

from wechat_bridge.errors import BrokerUnavailable, ChannelUnknown, NotConfigured, SessionExpired
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.login.session import session_ended, session_is_back
from wechat_bridge.flow.park import release_after_login
from wechat_bridge.model.channel import Channel, ChannelStatus, Login
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def complete_login(bridge: Bridge, share_id: str, login: Login) -> None:
    """Store the credentials, end the chain of the login before, start a new one, release parked replies.

    Raises ChannelUnknown, AccountTaken, NotConfigured (no key to encrypt with) and LedgerUnavailable. Once the
    credentials are stored the login holds: whatever Redis cannot do now, the seeder and the sweep do later. Doing it
    again with the same login changes nothing.
    """
    channel = bridge.channels.get(share_id)
    if channel is None:
        raise ChannelUnknown(f"there is no channel {share_id}; add it first: wechat-bridge channel add {share_id}")
    if not _holds(bridge, channel, login):
        _displace(bridge, channel, login)
        bridge.channels.log_in(share_id, login, bridge.clock.now())
        log.info("logged_in", share_id=share_id, account_id=login.account.account_id)
        session_is_back(channel)
    _start_chain(bridge, share_id)
    release_after_login(bridge, share_id)


def _holds(bridge: Bridge, channel: Channel, login: Login) -> bool:
    """Whether the channel is online with this very login: the process that stored it died before it could say so."""
    if channel.status is not ChannelStatus.ONLINE or channel.account_id != login.account.account_id:
        return False
    try:
        return (
            channel.sealed_account is not None and bridge.channels.vault.open(channel.sealed_account) == login.account
        )
    except NotConfigured:  # sealed with a key that is gone
        return False


def _displace(bridge: Bridge, channel: Channel, login: Login) -> None:
    """WeChat binds a person to one bot: the channel that had this person gets -14 from now on, so say it at once."""
    for other in bridge.accounts.of_owner(channel.kind, login.owner_user_id):
        if other.id != channel.id and other.may_send:
            moved = f"its WeChat account was logged in to channel {channel.id}; log in with another account"
            session_ended(bridge, other.id, other.epoch, SessionExpired(moved))
            _revoke(bridge, other.id)


def _revoke(bridge: Bridge, share_id: str) -> None:
    try:
        bridge.locks.revoke(share_id)
    except BrokerUnavailable as error:
        log.warning("revoke_failed", share_id=share_id, error=str(error))  # the chain ends with the slice it is in


def _start_chain(bridge: Bridge, share_id: str) -> None:
    channel = bridge.channels.get(share_id)
    try:
        bridge.locks.revoke(share_id)
        bridge.locks.clear_failures(share_id, bridge.settings.poll.failure_window_seconds)
        if channel is not None:
            bridge.doorbells.ring_poll(share_id, channel.generation)
    except BrokerUnavailable as error:
        log.warning("chain_start_delayed", share_id=share_id, error=str(error))
