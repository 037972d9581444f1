"""A channel for tests that poll step by step."""

from __future__ import annotations

import pytest

from tests.support.variations import setting, using
from tests.support.world import World
from wechat_bridge.flow.unfinished import Unfinished


@pytest.fixture
def quick(world: World) -> World:
    """A channel whose idle polls are held for an instant, one poll a link, with a retry list of its own."""
    world.control.set_options(world.bot_id, hold_seconds=0.02)
    return using(setting(world, "poll", polls_per_task=1), unfinished=Unfinished())
