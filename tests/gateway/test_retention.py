"""Events go when they have ended long ago, and nothing else does."""

from __future__ import annotations

from datetime import timedelta

from tests.gateway.desk import Desk
from wechat_bridge.gateway.dead import record_dead_event
from wechat_bridge.gateway.retention import EventRetention
from wechat_bridge.model.event import Receipt


def age(desk: Desk, receipt: Receipt, days: float, **changes: object) -> None:
    """Let an event have come days ago."""
    at = desk.gateway.clock.now() - timedelta(days=days)
    desk.gateway.events.collection.update_one({"_id": receipt.id}, {"$set": {"received_at": at} | changes})


def test_what_has_ended_goes_after_its_days_and_what_has_not_stays(desk: Desk) -> None:
    old, fresh, waiting = desk.send(), desk.send(), desk.send()
    for receipt in (old, fresh):
        desk.dispatch(receipt)
    age(desk, old, 8)
    age(desk, waiting, 8)
    EventRetention().go_on(desk.gateway)
    assert [desk.gateway.events.get(each.id) is None for each in (old, fresh, waiting)] == [True, False, False]


def test_what_must_still_be_known_as_a_repeat_stays(desk: Desk) -> None:
    receipt = desk.send("once", n=1)
    desk.dispatch(receipt)
    age(desk, receipt, 8, dedup_until=desk.gateway.clock.after(60))
    EventRetention().go_on(desk.gateway)
    assert desk.gateway.events.get(receipt.id) is not None


def test_what_a_dead_letter_waits_about_stays_until_somebody_has_decided(desk: Desk) -> None:
    receipt = desk.send()
    desk.sink.statuses.append(422)
    desk.dispatch(receipt)
    record_dead_event(desk.gateway, receipt.id)
    age(desk, receipt, 8)
    EventRetention().go_on(desk.gateway)
    assert desk.gateway.events.get(receipt.id) is not None
    desk.gateway.dead_letters.mark_discarded(receipt.id, "a test", desk.gateway.clock.now())
    EventRetention().go_on(desk.gateway)
    assert desk.gateway.events.get(receipt.id) is None
