"""While a human answers, the engine is not asked; nothing is lost, and it ends."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.flow.delivering import queued, send
from tests.flow.people.admitting import age, is_refused, notice, person, wrote
from tests.support.variations import ScriptedEngine, engine, setting
from tests.support.world import World
from wechat_bridge.errors import AccessRefused, EngineUnavailable, NoticeRefused
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.people import access_admin as admin
from wechat_bridge.flow.people import commands, takeover
from wechat_bridge.flow.people.notice import send_notice
from wechat_bridge.flow.people.transcript import transcript
from wechat_bridge.model.access import Reason
from wechat_bridge.model.turn import Lane, TurnState
from wechat_bridge.observe import alerts

OPERATOR = "operator@host"


@pytest.fixture
def known(world: World) -> tuple[World, ScriptedEngine]:
    """A channel to which ann has written; its engine remembers what it is asked."""
    asking, scripted = engine(world, "the engine's answer")
    asking.answer(queued(asking, "hello"))
    return asking, scripted


def command(world: World, words: str) -> str:
    """Let ann give a command; return what she reads."""
    wrote(world, words)
    turn = world.bridge.turns.open_of(world.chat(), Lane.COMMAND)
    assert turn is not None
    world.answer(turn)
    return world.delivered()[-1]


def by_hand(world: World, text: str, own_id: str = "1") -> None:
    """Let the operator answer ann."""
    send(world, world.turn(send_notice(world.bridge, world.share_id, world.user(), text, own_id)))


def test_a_person_asks_for_a_human_who_answers_by_hand_until_the_person_wants_the_bot_back(
    known: tuple[World, ScriptedEngine],
) -> None:
    world, scripted = known
    assert command(world, "/human") == commands.HUMAN_TEXT
    (message,) = wrote(world, "my parcel is lost")
    assert is_refused(world, message, Reason.HUMAN)
    assert command(world, "/status").startswith("人工服务中")
    by_hand(world, "we look for it")
    assert world.delivered()[-1] == "we look for it"
    assert command(world, "/bot") == commands.BOT_TEXT
    world.answer(queued(world, "thanks"))
    assert [each.text for each in scripted.asked] == ["hello", "thanks"]


def test_an_operator_takes_over_and_the_question_in_work_is_not_answered_by_the_engine(
    known: tuple[World, ScriptedEngine],
) -> None:
    world, scripted = known
    turn = queued(world, "a question")
    admin.set_human(world.bridge, world.share_id, world.user(), True, OPERATOR)
    reply.generate_reply(world.bridge, turn.id)
    deliver.deliver_reply(world.bridge, turn.id)
    ended = world.turn(turn.id)
    assert (ended.state, ended.open, ended.error) == (TurnState.SKIPPED, False, Reason.HUMAN.value)
    assert len(scripted.asked) == 1
    admin.set_human(world.bridge, world.share_id, world.user(), False, OPERATOR)
    world.answer(queued(world, "and now?"))
    assert scripted.asked[-1].text == "and now?"


def test_a_question_that_waits_for_its_next_try_is_not_asked_again(world: World) -> None:
    asking, scripted = engine(world, EngineUnavailable("down"))
    turn = queued(asking, "a question")
    reply.generate_reply(asking.bridge, turn.id)
    admin.set_human(world.bridge, world.share_id, world.user(), True, OPERATOR)
    past = world.bridge.clock.now() - timedelta(seconds=1)
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": {"next_attempt_at": past}})
    reply.generate_reply(asking.bridge, turn.id)
    assert len(scripted.asked) == 1


def test_it_ends_by_itself_some_time_after_the_last_answer_by_hand(known: tuple[World, ScriptedEngine]) -> None:
    world, scripted = known
    command(world, "转人工")
    age(world, 1800)
    began = person(world).human_until
    by_hand(world, "still here")
    extended = person(world).human_until
    assert began is not None
    assert extended is not None
    assert (extended - began).total_seconds() == pytest.approx(1800, abs=10)
    age(world, 3601)
    world.answer(queued(world, "anybody?"))
    assert scripted.asked[-1].text == "anybody?"


def test_answers_by_hand_are_no_notices_but_use_the_same_send_budget(known: tuple[World, ScriptedEngine]) -> None:
    world, _ = known
    strict = setting(world, "reply", notices_per_day=0, pacing_seconds=0.0)
    with pytest.raises(NoticeRefused, match="0 notices within a day"):
        by_hand(strict, "a notice")
    takeover.take_over(strict.bridge, world.share_id, world.user(), OPERATOR, world.bridge.clock.now())
    before = world.bridge.conversations.get(world.chat())
    for number in range(3):
        by_hand(strict, f"answer {number}", str(number))
    by_hand(strict, "answer 2", "2")
    after = world.bridge.conversations.get(world.chat())
    assert world.delivered()[1:] == ["answer 0", "answer 1", "answer 2"]
    assert before is not None
    assert after is not None
    assert before.sends_left - after.sends_left == 3


def test_an_answer_by_hand_after_the_engine_is_back_is_a_notice_and_takes_over_nothing(
    known: tuple[World, ScriptedEngine],
) -> None:
    world, _ = known
    by_hand(world, "by the way")
    assert person(world).human_until is None
    assert world.bridge.turns.count_notices(world.share_id, world.bridge.clock.after(-60)) == 1


def test_a_muted_person_is_answered_nothing_until_somebody_ends_it(known: tuple[World, ScriptedEngine]) -> None:
    world, scripted = known
    turn = queued(world, "a question")
    admin.set_muted(world.bridge, world.share_id, world.user(), True, OPERATOR)
    assert world.turn(turn.id).error == Reason.MUTED.value
    for words in ("hello?", "/help", "/bot"):
        (message,) = wrote(world, words)
        assert is_refused(world, message, Reason.MUTED)
    assert notice(world) is None
    admin.set_muted(world.bridge, world.share_id, world.user(), False, OPERATOR)
    world.answer(queued(world, "and now?"))
    assert [each.text for each in scripted.asked] == ["hello", "and now?"]


def test_somebody_who_never_wrote_cannot_be_taken_over_or_muted(world: World) -> None:
    nobody = (world.bridge, world.share_id, world.user("nobody"))
    with pytest.raises(AccessRefused, match="has never written to channel"):
        admin.set_human(*nobody, True, OPERATOR)
    with pytest.raises(AccessRefused, match="has never written to channel"):
        admin.set_muted(*nobody, True, OPERATOR)
    admin.allow(*nobody, OPERATOR)
    with pytest.raises(NoticeRefused, match="WeChat bots cannot begin"):
        send_notice(*nobody, "hello", "1")


def test_somebody_is_told_that_a_human_is_wanted(
    known: tuple[World, ScriptedEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, _ = known
    raised: list[tuple[str, str, str]] = []
    cleared: list[tuple[str, str]] = []
    monkeypatch.setattr(alerts, "raise_", lambda *given, **_: raised.append(given))
    monkeypatch.setattr(alerts, "clear", lambda *given: cleared.append(given))
    command(world, "/human")
    command(world, "/bot")
    assert [(cause, subject) for cause, subject, _ in raised] == [("human_wanted", world.chat())]
    assert f"wechat-bridge send {world.share_id} {world.user()}" in raised[0][2]
    assert cleared == [("human_wanted", world.chat())]


def test_the_human_reads_what_was_said_and_by_whom(known: tuple[World, ScriptedEngine]) -> None:
    world, _ = known
    command(world, "/human")
    wrote(world, "my parcel is lost")
    by_hand(world, "we look for it")
    lines = transcript(world.bridge, world.share_id, world.user(), 20)
    assert [(line.who, line.text, line.note) for line in lines] == [
        ("person", "hello", "done"),
        ("bot", "the engine's answer", "sent"),
        ("person", "/human", "done"),
        ("bot", commands.HUMAN_TEXT, "sent"),
        ("person", "my parcel is lost", "skipped: a human answers"),
        ("operator", "we look for it", "sent"),
    ]
    assert transcript(world.bridge, world.share_id, world.user(), 1) == lines[-1:]
    assert transcript(world.bridge, world.share_id, "nobody", 20) == []
