"""Messages that nobody asked for: stored before they are sent, within what WeChat allows, and sent once."""

from __future__ import annotations

import pytest

from tests.flow.delivering import queued, send
from tests.support.doorbells import taken
from tests.support.variations import setting
from tests.support.world import World
from wechat_bridge.errors import ChannelUnknown, NoticeRefused
from wechat_bridge.flow.people.notice import send_notice
from wechat_bridge.model.outcome import Done, Park
from wechat_bridge.model.turn import Lane, TurnState


@pytest.fixture
def known(world: World) -> World:
    """A channel to which ann has written, and was answered."""
    world.answer(queued(world, "hello"))
    return world


def notice(world: World, text: str = "your parcel is here", own_id: str = "1", name: str = "ann") -> str:
    return send_notice(world.bridge, world.share_id, world.user(name), text, own_id)


def test_a_notice_reaches_who_has_written_before_and_the_same_id_again_sends_nothing(known: World) -> None:
    turn_id = notice(known)
    assert [each.args for each in taken(known, "deliver")][-1:] == [[turn_id]]
    assert notice(known) == turn_id
    assert send(known, known.turn(turn_id)) == Done()
    assert notice(known) == turn_id
    assert send(known, known.turn(turn_id)) == Done()
    assert known.delivered() == ["hello", "your parcel is here"]
    ended = known.turn(turn_id)
    assert (ended.state, ended.lane, ended.open, ended.ring_at) == (TurnState.SENT, Lane.NOTICE, False, None)


def test_a_notice_does_not_wait_behind_a_question_in_work_and_does_not_keep_it_waiting(known: World) -> None:
    question = queued(known, "a question")
    turn_id = notice(known)
    send(known, known.turn(turn_id))
    known.answer(question)
    assert known.delivered() == ["hello", "your parcel is here", "a question"]


def test_a_long_notice_goes_out_in_pieces_as_wechat_shows_them(known: World) -> None:
    small = setting(known, "reply", chunk_characters=16, pacing_seconds=0.0)
    send(small, known.turn(notice(small, "first piece.... second piece... [here](http://x.test)")))
    assert len(known.delivered()) > 3
    assert "".join(known.delivered()[1:]).replace(" ", "").endswith("here(http://x.test)")


def test_one_that_may_not_go_out_now_goes_out_when_the_person_writes_again(known: World) -> None:
    known.bridge.conversations.collection.update_one({"_id": known.chat()}, {"$set": {"sends_left": 0}})
    turn_id = notice(known)
    assert send(known, known.turn(turn_id)) == Park("send_budget")
    with pytest.raises(NoticeRefused, match="waits already"):
        notice(known, own_id="2")
    question = queued(known, "hello again")
    assert known.turn(turn_id).state is TurnState.GENERATED
    send(known, known.turn(turn_id))
    known.answer(question)
    assert known.delivered() == ["hello", "your parcel is here", "hello again"]


def test_what_cannot_be_sent_is_refused_with_the_reason_and_leaves_nothing(known: World) -> None:
    bridge = known.bridge
    with pytest.raises(NoticeRefused, match=r"never written .* cannot begin"):
        notice(known, name="stranger")
    with pytest.raises(NoticeRefused, match="no text"):
        notice(known, " \n")
    with pytest.raises(ChannelUnknown, match="channel list"):
        send_notice(bridge, "nowhere", known.user(), "x", "1")
    bridge.channels.require_login(known.share_id, known.channel.epoch, "-14")
    with pytest.raises(NoticeRefused, match="channel login"):
        notice(known)
    assert bridge.turns.collection.count_documents({"lane": "notice", "share_id": known.share_id}) == 0


def test_an_account_sends_few_notices_a_day(known: World) -> None:
    few = setting(known, "reply", notices_per_day=2, pacing_seconds=0.0)
    for number in range(2):
        send(few, known.turn(notice(few, own_id=str(number))))
    with pytest.raises(NoticeRefused, match=r"2 notices within a day.*NOTICES_PER_DAY"):
        notice(few, own_id="2")
    yesterday = few.bridge.clock.after(-25 * 3600)
    few.bridge.turns.collection.update_many({"lane": "notice"}, {"$set": {"times.generated": yesterday}})
    assert notice(few, own_id="2")
