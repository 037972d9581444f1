"""Channels by the thousand: bots at the simulated WeChat and, for the bridge, their documents in one insert."""

from __future__ import annotations

from collections.abc import Iterable

from tests.benchmarks.report import wait
from tests.support.system import System
from wechat_bridge.model.channel import Account, Channel, ChannelStatus, StatusReason
from wechat_bridge.simulators.ilink import BotCredentials, IlinkControl
from wechat_bridge.store.ledger import to_document


def create_bots(control: IlinkControl, count: int) -> list[BotCredentials]:
    """Make bots at the simulated WeChat, each of a WeChat user of its own."""
    return [control.create_bot() for _ in range(count)]


def add_channels(
    system: System, bots: Iterable[BotCredentials], engine: str = "echo", spread_seconds: float = 0.0
) -> dict[str, BotCredentials]:
    """Add a channel for each bot, logged in, due one after the other over ``spread_seconds``; return the bots."""
    channels = {f"bench-{number}": bot for number, bot in enumerate(bots)}
    step_seconds = spread_seconds / max(1, len(channels))
    documents = [
        to_document(_channel(system, share_id, bot, engine, step_seconds * number))
        for number, (share_id, bot) in enumerate(channels.items())
    ]
    system.wired.bridge.channels.collection.insert_many(documents)
    return channels


def start_polled(system: System, count: int, reply_workers: int = 1) -> list[BotCredentials]:
    """Start the processes, and channels that ask the engine ``clock``; return their bots once all are polled."""
    bots = create_bots(system.control, count)
    system.start_all(poll_threads=count + 10, reply_threads=100)
    for number in range(1, reply_workers):
        system.start("reply", f"reply-{number + 1}", threads=100)
    add_channels(system, bots, engine="clock")
    wait(lambda: system.control.stats()["open_polls"] == len(bots), 60, "every channel polls")
    return bots


def _channel(system: System, share_id: str, bot: BotCredentials, engine: str, due_seconds: float) -> Channel:
    bridge = system.wired.bridge
    account = Account(token=bot["token"], account_id=bot["bot_id"], base_url=system.base_url)
    now = bridge.clock.now()
    return Channel(
        id=share_id,
        status=ChannelStatus.ONLINE,
        status_reason=StatusReason.NONE,
        sealed_account=bridge.channels.vault.seal(account),
        account_id=bot["bot_id"],
        owner_user_id=bot["user_id"],
        epoch=1,
        next_poll_at=bridge.clock.after(due_seconds),
        login_time=now,
        created_at=now,
        engine=engine,
    )
