"""A gateway of the test's own process, and an address that gets its events."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.gateway.desk import PLAIN, Desk, rules_for
from tests.support.sink import Sink
from wechat_bridge.wiring import Wired


@pytest.fixture
def sink() -> Iterator[Sink]:
    """An address that gets events."""
    with Sink() as running:
        yield running


@pytest.fixture
def desk(wired: Wired, sink: Sink) -> Desk:
    """Events: plain ones, ones with repeats, ones that wait for each other, and throttled ones."""
    types = {
        "plain": PLAIN,
        "once": PLAIN | {"dedupe": {"by": "key", "key": "dedup:once:{userId}:{n}"}},
        "chat": PLAIN | {"debounce": {"wait_ms": 60_000}},
        "last": PLAIN | {"debounce": {"wait_ms": 60_000, "mode": "replace"}},
        "sensor": PLAIN | {"debounce": {"wait_ms": 60_000, "mode": "throttle"}},
        "cancel": PLAIN | {"debounce": {"wait_ms": 60_000, "on_stop": "cancel"}},
        "few": PLAIN | {"debounce": {"wait_ms": 60_000, "most_items": 2}},
    }
    return Desk(wired, sink, rules_for(sink, types))
