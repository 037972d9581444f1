"""However many ask for health at once, the ledger is read once."""

from __future__ import annotations

import asyncio
import time

from celery import Celery

from tests.support.world import settings_for
from wechat_bridge.flow.health.readings import Readings
from wechat_bridge.web.shared import LIFETIME_SECONDS, SharedReadings
from wechat_bridge.wiring import Wired, build


def test_a_crowd_shares_one_reading_and_the_next_second_has_its_own(wired: Wired) -> None:
    async def ask() -> tuple[list[Readings], Readings]:
        shared = SharedReadings(wired.bridge)
        crowd = await asyncio.gather(*(shared.get() for _ in range(50)))
        await asyncio.sleep(LIFETIME_SECONDS + 0.05)
        return list(crowd), await shared.get()

    crowd, later = asyncio.run(ask())
    assert len({id(readings) for readings in crowd}) == 1
    assert later is not crowd[0]
    assert later.ledger is not None
    assert crowd[0].ledger is not None
    assert later.ledger.now > crowd[0].ledger.now


def test_the_event_loop_goes_on_while_a_ledger_that_is_away_is_waited_for() -> None:
    parts = build(settings_for("redis://127.0.0.1:1/0", "mongodb://127.0.0.1:1/away"), Celery("away"))

    async def ask() -> tuple[float, float, Readings]:
        reading = asyncio.ensure_future(SharedReadings(parts.bridge).get())
        started = last = time.monotonic()
        longest = 0.0
        while not reading.done():
            await asyncio.sleep(0.01)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        return longest, last - started, await reading

    longest, elapsed, readings = asyncio.run(ask())
    parts.close()
    assert readings.ledger is None
    assert elapsed > 2
    assert longest < elapsed / 2
