"""What an event tells a person: once however often it is tried, as the channel allows it, or refused saying why."""

from __future__ import annotations

import threading

import pytest

from tests.flow.delivering import queued, send
from tests.flow.wecom.fixtures import app
from tests.support.variations import failing, setting, unanswered
from tests.support.wecom_world import WecomWorld
from tests.support.world import World
from wechat_bridge.errors import DispatchRefused, DispatchUnavailable, LedgerUnavailable
from wechat_bridge.flow.people.event_notice import EventNotices
from wechat_bridge.model import keys
from wechat_bridge.model.outcome import Done, Park
from wechat_bridge.model.turn import TurnState

__all__ = ["app"]

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
PAID = "已收到付款 12.50 元"


@pytest.fixture
def known(world: World) -> World:
    """A channel to which ann has written, and was answered."""
    world.answer(queued(world, "hello"))
    return world


def tell(world: World, text: str = PAID, event_id: str = "evt-1", name: str = "ann", share_id: str = "") -> None:
    EventNotices(world.bridge)(share_id or world.share_id, world.user(name), text, event_id, TRACE_ID)


def deliver(world: World, event_id: str = "evt-1") -> object:
    return send(world, world.turn(keys.notice_id(world.share_id, event_id)))


def stored(world: World) -> int:
    found: int = world.bridge.turns.collection.count_documents({"lane": "notice", "share_id": world.share_id})
    return found


def test_a_person_reads_what_the_event_tells_them_in_its_trace(known: World) -> None:
    tell(known)
    assert known.turn(keys.notice_id(known.share_id, "evt-1")).trace_id == TRACE_ID
    assert deliver(known) == Done()
    assert known.delivered() == ["hello", PAID]


def test_c6_an_event_that_is_dispatched_again_tells_nothing_twice(known: World) -> None:
    tell(known)
    tell(known)
    assert deliver(known) == Done()
    tell(known)
    assert stored(known) == 1
    assert known.delivered() == ["hello", PAID]


def test_c6_two_processes_that_dispatch_one_event_at_once_tell_it_once(known: World) -> None:
    threads = [threading.Thread(target=tell, args=(known,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stored(known) == 1


def test_c6_a_notice_that_was_stored_without_an_answer_may_have_an_effect_and_is_told_once(known: World) -> None:
    cut = unanswered(known, "turns", "open", LedgerUnavailable("MongoDB: cut"))
    with pytest.raises(DispatchUnavailable, match="MongoDB") as caught:
        tell(cut)
    assert caught.value.may_have_effect is True
    tell(cut)
    assert (stored(known), deliver(known)) == (1, Done())


def test_an_event_waits_for_a_notice_that_is_still_being_sent(known: World) -> None:
    tell(known)
    with pytest.raises(DispatchUnavailable, match="waits already") as caught:
        tell(known, "second", "evt-2")
    assert caught.value.may_have_effect is False
    deliver(known)
    tell(known, "second", "evt-2")
    deliver(known, "evt-2")
    assert known.delivered() == ["hello", PAID, "second"]


def test_what_may_not_go_out_now_is_handed_over_and_goes_out_when_the_person_writes_again(known: World) -> None:
    known.bridge.conversations.collection.update_one({"_id": known.chat()}, {"$set": {"sends_left": 0}})
    tell(known)
    assert deliver(known) == Park("send_budget")
    tell(known)
    known.answer(queued(known, "hello again"))
    assert known.turn(keys.notice_id(known.share_id, "evt-1")).state is TurnState.GENERATED
    assert deliver(known) == Done()
    assert known.delivered().count(PAID) == 1


def test_f6_somebody_a_wechat_bot_may_not_begin_with_is_refused_saying_so(known: World) -> None:
    with pytest.raises(DispatchRefused, match=r"never written .* cannot begin"):
        tell(known, name="stranger")
    assert stored(known) == 0


def test_f6_a_channel_that_is_unknown_or_logged_out_is_refused_saying_what_to_do(known: World) -> None:
    with pytest.raises(DispatchRefused, match=r"no channel nowhere; .*channel list"):
        tell(known, share_id="nowhere")
    known.bridge.channels.require_login(known.share_id, known.channel.epoch, "-14")
    with pytest.raises(DispatchRefused, match="channel login"):
        tell(known)
    assert stored(known) == 0


def test_f6_more_than_an_account_may_send_a_day_is_refused_but_not_what_is_stored(known: World) -> None:
    few = setting(known, "reply", notices_per_day=1, pacing_seconds=0.0)
    tell(few)
    deliver(few)
    with pytest.raises(DispatchRefused, match="1 notices within a day"):
        tell(few, event_id="evt-2")
    tell(few)
    assert stored(known) == 1


def test_f4_while_the_ledger_is_away_it_comes_again(known: World) -> None:
    away = failing(known, "channels", "get", LedgerUnavailable("MongoDB: away"))
    with pytest.raises(DispatchUnavailable, match="MongoDB: away"):
        tell(away)
    tell(away)
    assert stored(known) == 1


def test_an_app_of_wecom_may_begin_with_a_member(app: WecomWorld) -> None:
    tell(app)
    assert app.send(app.turn(keys.notice_id(app.share_id, "evt-1"))) == Done()
    assert app.delivered() == [PAID]
