"""A channel for tests that poll step by step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.variations import setting, using
from tests.support.world import World
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.simulators.ilink import IlinkOptions, IlinkSimulator
from wechat_bridge.wiring import Wired


@pytest.fixture
def quick(world: World) -> World:
    """A channel whose idle polls are held for an instant, one poll a link, with a retry list of its own."""
    world.control.set_options(world.bot_id, hold_seconds=0.02)
    return using(setting(world, "poll", polls_per_task=1), unfinished=Unfinished())


@pytest.fixture(scope="module")
def qr_wechat() -> Iterator[IlinkSimulator]:
    """A simulated WeChat that does not hold questions about a QR code."""
    with IlinkSimulator(IlinkOptions(qr_hold_seconds=0.0)) as running:
        yield running


@pytest.fixture
def qr_world(wired: Wired, qr_wechat: IlinkSimulator) -> World:
    """A channel that is logged in, at this simulated WeChat."""
    return World.create(wired, qr_wechat.control, qr_wechat.base_url)
