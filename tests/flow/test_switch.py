"""Switching a channel off and on."""

from __future__ import annotations

import pytest

from tests.support.world import World
from wechat_bridge.errors import ChannelUnknown
from wechat_bridge.flow.switch import switch


def test_a_channel_that_is_switched_off_loses_its_poll_lock_and_is_not_polled(world: World) -> None:
    locks = world.bridge.locks
    assert locks.take(world.share_id, "owner", 1)
    switch(world.bridge, world.share_id, enabled=False)
    assert locks.keep(world.share_id, "owner", 1) is None
    assert not world.channel.is_pollable


def test_a_channel_that_is_switched_on_again_is_due_at_once_with_its_login(world: World) -> None:
    switch(world.bridge, world.share_id, enabled=False)
    switch(world.bridge, world.share_id, enabled=True)
    assert world.channel.is_pollable
    assert world.channel.next_poll_at is not None
    assert world.channel.next_poll_at <= world.bridge.clock.now()


def test_a_channel_that_does_not_exist_is_named(world: World) -> None:
    with pytest.raises(ChannelUnknown, match="there is no channel nobody"):
        switch(world.bridge, "nobody", enabled=True)
