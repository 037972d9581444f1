"""A process is killed after every single call of a pull: every customer is answered once, in order of what happened."""

from __future__ import annotations

import dataclasses

import pytest

from tests.flow.customer_service.fixtures import own, service
from tests.support.customer_world import ENDED, HUMAN, CustomerWorld
from tests.support.mortal import Death, Killed
from tests.support.variations import Witness, using
from wechat_bridge.flow.customer_service.bell import ring_due
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.simulators.wecom import WecomControl
from wechat_bridge.wiring import Wired

__all__ = ["service"]

pytestmark = pytest.mark.slow

PARTS = ("channels", "access", "inbox", "conversations", "turns", "services", "locks", "customer_service")


def of_account(wired: Wired, wecom: WecomControl) -> CustomerWorld:
    """An account at which all kinds of things have happened, to be read in two pages."""
    service = CustomerWorld.of_account(wired, wecom, welcome_text="欢迎！")
    wecom.kf_enter(service.open_kfid, service.user("cid"), doorbell=False)
    service.say("one", name="ann")
    service.session(HUMAN, 1, name="bob")
    service.say("to the human", name="bob")
    service.session(ENDED, 3, name="bob")
    service.say("two", name="ann")
    service.say("to the bot", name="bob")
    return service


def live(service: CustomerWorld, death: Death) -> CustomerWorld:
    """The account as a process with this fate knows it."""
    parts = {name: death.within(name, getattr(service.bridge, name)) for name in PARTS}
    return own(using(service, alive=Witness("victim"), **parts))


def go_on(service: CustomerWorld) -> None:
    """Another process finds what is left, and ends it."""
    heir = own(using(service, alive=Witness("heir", dead=["victim"])))
    for name in ("ann", "bob"):
        heir.settle(name)
    service.wired.redis.delete(f"poll:next:{service.share_id}")
    if service.is_due:
        ring_due(heir.bridge)
        heir.pull()
    for name in ("ann", "bob"):
        heir.settle(name)
    waiting = {"share_id": service.share_id, "state": "pending"}
    older = {"$set": {"received_at": service.bridge.clock.after(-3600)}}
    if service.bridge.inbox.collection.update_many(waiting, older).matched_count:
        Sweeper().sweep(heir.bridge)
        for name in ("ann", "bob"):
            heir.settle(name)


def test_every_customer_is_answered_once_wherever_the_process_that_pulls_dies(
    service: CustomerWorld, wecom: WecomControl
) -> None:
    wired, whole = service.wired, Death(0)
    live(of_account(wired, wecom), whole).pull()
    assert {"services.move 1", "access.decide 2", "customer_service.send_on_event 1", "inbox.add 3"} <= set(whole.calls)
    for number, name in enumerate(whole.calls, 1):
        case = of_account(dataclasses.replace(wired), wecom)
        with pytest.raises(Killed):
            live(case, Death(number)).pull()
        go_on(case)
        point = f"after {name}"
        heard = [line for text in case.delivered("ann") for line in text.split("\n")]
        assert heard == ["one", "two"], point
        assert case.delivered("bob") == ["to the bot"], point
        assert case.delivered("cid") == ["欢迎！"], point
        assert ("to the human", "skipped", "a human answers") in case.said(), point
        assert not case.is_due, point
        case.bridge.services.end(case.share_id)
