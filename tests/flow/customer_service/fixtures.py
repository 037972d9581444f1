"""A customer service account of each test's own, at a simulated WeCom."""

from __future__ import annotations

import dataclasses

import pytest

from tests.support.customer_world import CustomerWorld
from tests.support.world import World
from wechat_bridge.flow import reply
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.live import Live
from wechat_bridge.model.turn import Turn, chunks_of
from wechat_bridge.simulators.wecom import WecomControl
from wechat_bridge.wiring import Wired


@pytest.fixture
def service(wired: Wired, wecom: WecomControl) -> CustomerWorld:
    """An account of this test alone, sent to without pauses, with a retry list of its own."""
    wecom.set_options(kf_page_size=1_000, kf_empty_pages=0, kf_pulls_without_token=100, kf_over_limit="event")
    settings = wired.bridge.settings
    quick = settings.model_copy(update={"reply": settings.reply.model_copy(update={"pacing_seconds": 0.0})})
    bridge = dataclasses.replace(wired.bridge, live=Live(quick), unfinished=Unfinished())
    return CustomerWorld.of_account(dataclasses.replace(wired, bridge=bridge), wecom)


def own(world: World) -> CustomerWorld:
    """The world, changed, as the account that it is."""
    assert isinstance(world, CustomerWorld)
    return world


def answered(service: CustomerWorld, text: str, name: str = "ann") -> None:
    """A customer says something and is answered."""
    service.say(text, name=name)
    service.pull()
    assert service.settle(name) is not None


def generated(service: CustomerWorld, text: str = "hello", parts: int = 1) -> Turn:
    """A turn whose answer is stored, in so many parts."""
    service.say(text)
    return answer_to_what_was_said(service, text, parts)


def answer_to_what_was_said(service: CustomerWorld, text: str, parts: int) -> Turn:
    """The turn of what a customer has said before."""
    service.pull()
    service.make_due()
    turn = service.flush()
    assert turn is not None
    reply.generate_reply(service.bridge, turn.id)
    if parts > 1:
        chunks = [chunk.model_dump() for chunk in chunks_of(turn.id, [f"{text} {number}" for number in range(parts)])]
        service.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"chunks": chunks}})
    return service.turn(turn.id)
