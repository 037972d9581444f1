"""A server that drips does not hold a chain (acceptance K5); the promised 120 s are shortened to 2 s here."""

from __future__ import annotations

import time
from dataclasses import replace

from tests.support.world import World
from wechat_bridge.channels.ilink.door import IlinkDoor
from wechat_bridge.flow.poll import poll_channel
from wechat_bridge.model.channel import ChannelKind


def test_a_poll_that_drips_is_cut_counted_once_and_the_chain_goes_on(world: World) -> None:
    door = IlinkDoor(world.wired.http, default_hold_seconds=35, poll_total_seconds=2)
    bridge = replace(world.bridge, doors={ChannelKind.ILINK: door})
    world.control.script("getupdates", world.bot_id, times=1, answer={"ret": 0, "msgs": []}, drip_seconds=0.5)
    generation = world.channel.generation
    started = time.monotonic()
    poll_channel(bridge, world.share_id, generation)
    assert 1.5 < time.monotonic() - started < 4
    channel = world.channel
    assert channel.status == "online"
    assert channel.last_error is not None
    assert channel.next_poll_at is not None, "the chain goes on"
    assert world.wired.redis.get(f"poll:failures:{world.share_id}") == "1"
