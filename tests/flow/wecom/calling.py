"""A process that takes callbacks, for tests of the flow."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from prometheus_client import REGISTRY

from tests.support.variations import failing, using
from tests.support.wecom_app import App
from tests.support.world import World
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.flow.wecom.callback import Callbacks, Outcome
from wechat_bridge.model.channel import Channel
from wechat_bridge.wiring import Wired

AWAY = LedgerUnavailable("away")


@pytest.fixture
def bridge(wired: Wired) -> Bridge:
    """The bridge, with a retry list of this test alone."""
    return dataclasses.replace(wired.bridge, unfinished=Unfinished())


@pytest.fixture
def app(bridge: Bridge) -> App:
    """An app of this test alone."""
    return App.create(bridge)


@contextmanager
def callbacks_of(bridge: Bridge, keep_seconds: float = 4.0) -> Iterator[Callbacks]:
    """The callbacks of a process."""
    callbacks = Callbacks(bridge, keep_seconds)
    callbacks.start()
    yield callbacks
    callbacks.stop()


def broken(bridge: Bridge, wired: Wired, *parts: tuple[str, str, Exception], times: int = 99) -> Bridge:
    """The bridge with methods that fail some times."""
    world = World(dataclasses.replace(wired, bridge=bridge), None, "", "")  # type: ignore[arg-type]  # no simulator here
    for part, method, error in parts:
        world = failing(world, part, method, error, times=times)
    return using(world, unfinished=Unfinished()).bridge


def take(callbacks: Callbacks, app: App, plain: Any, **how: float) -> Outcome:
    """Let WeCom call."""
    return callbacks.take(app.share_id, *app.post(plain, **how), time.monotonic())


def counted(outcome: Outcome) -> float:
    """How many callbacks had an outcome."""
    return REGISTRY.get_sample_value("wechat_bridge_callbacks_total", {"outcome": outcome.value}) or 0.0


def turns_of(app: App) -> list[dict[str, Any]]:
    """The turns of an app."""
    return list(app.bridge.turns.collection.find({"share_id": app.share_id}))


def channel_of(app: App) -> Channel:
    """The channel as it is stored now."""
    channel = app.bridge.channels.get(app.share_id)
    assert channel is not None
    return channel
