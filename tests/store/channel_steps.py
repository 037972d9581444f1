"""Steps that tests of channels share."""

from __future__ import annotations

from datetime import timedelta

from tests.store.documents import NOW
from wechat_bridge.model.channel import Account, Channel, Login
from wechat_bridge.store.channels import ChannelStore

DEADLINE = NOW + timedelta(seconds=180)


def login(name: str, token: str = "t") -> Login:
    """What a confirmed login of a WeChat user gives."""
    return Login(account=Account(token=token, account_id=f"bot of {name}", base_url="http://x"), owner_user_id=name)


def online(channels: ChannelStore, share_id: str) -> Channel:
    """A channel that was just logged in."""
    channels.add(Channel(id=share_id))
    channels.log_in(share_id, login(f"owner of {share_id}"), NOW)
    return stored(channels, share_id)


def stored(channels: ChannelStore, share_id: str) -> Channel:
    """A channel as it is stored."""
    found = channels.get(share_id)
    assert found is not None
    return found


def take(channels: ChannelStore, channel: Channel, owner: str = "me") -> Channel | None:
    """Take the next link."""
    return channels.take_link(channel.id, channel.generation, owner, NOW, DEADLINE)


def taken(channels: ChannelStore, share_id: str) -> Channel:
    """A channel whose link was just taken."""
    link = take(channels, online(channels, share_id))
    assert link is not None
    return link


def due(channels: ChannelStore, at_seconds: float = 0.0) -> list[str]:
    """The channels that the seeder would ring."""
    return [row["_id"] for row in channels.due_links(NOW + timedelta(seconds=at_seconds), 100)]
