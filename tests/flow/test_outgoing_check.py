"""A URL checks each answer: nothing goes out before it says so, and the engine is asked once whatever it does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.flow.delivering import queued, send, states
from tests.flow.outgoing_steps import (
    LABEL,
    PASS,
    REFUSE,
    REPLACE,
    SECRET,
    answered,
    checked_by,
    checker,
    record,
)
from tests.support.media import looking
from tests.support.pictures import png
from tests.support.variations import failing, setting
from tests.support.world import World
from wechat_bridge.engines.base import AnswerFile
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.channel.configure import configure
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.dead_letters.replay import replay
from wechat_bridge.model.message import ItemKind
from wechat_bridge.model.outcome import GiveUp, RetryIn
from wechat_bridge.model.outgoing import CheckResult
from wechat_bridge.model.turn import ChunkState, TurnState
from wechat_bridge.simulators.engine import EngineSimulator

__all__ = ["checker"]


@pytest.mark.parametrize(
    ("script", "seen", "result"),
    [
        (PASS, [f"an answer\n\n{LABEL}"], CheckResult.PASSED),
        (REPLACE, [f"something else\n\n{LABEL}"], CheckResult.REPLACED),
        (REFUSE, ["抱歉，这个问题我不方便回答。"], CheckResult.REFUSED),
    ],
)
def test_a_url_lets_an_answer_pass_replaces_or_refuses_it(
    world: World, checker: EngineSimulator, script: dict[str, Any], seen: list[str], result: CheckResult
) -> None:
    checker.script(**script)
    own, _, turn = answered(checked_by(world, checker, label=LABEL), "an answer")
    assert own.delivered() == seen
    assert (turn.state, turn.unchecked, record(turn)) == (TurnState.SENT, False, (result, "webhook"))
    assert turn.answer == seen[0].removesuffix(f"\n\n{LABEL}")
    call = checker.calls[0].body
    assert (call["turn_id"], call["text"], call["user_id"]) == (turn.id, "an answer", own.user())


def test_a_url_may_refuse_into_silence(world: World, checker: EngineSimulator) -> None:
    checker.script(**REFUSE)
    own, _, turn = answered(checked_by(world, checker, refusal=""), "an answer")
    assert own.delivered() == []
    assert (turn.state, turn.error, turn.open, turn.answer) == (
        TurnState.SKIPPED, "refused by the outgoing check", False, "",
    )  # fmt: skip


def test_the_url_gets_what_the_words_have_left_and_nothing_that_they_refuse(
    world: World, checker: EngineSimulator
) -> None:
    checker.script(**PASS)
    words = checked_by(world, checker, words=("bad => good", "worst"))
    own, _, turn = answered(words, "a bad one", "the worst")
    assert (own.delivered(), record(turn)) == (["a good one"], (CheckResult.REPLACED, "words"))
    assert checker.calls[0].body["text"] == "a good one"
    refused = own.answer(queued(own, "again"))
    assert record(refused) == (CheckResult.REFUSED, "words")
    assert len(checker.calls) == 1


def test_a_check_that_fails_lets_nothing_out_and_never_asks_the_engine_again(
    world: World, checker: EngineSimulator
) -> None:
    checker.script(status=500, message="no: an answer", times=2)
    checker.script(**PASS)
    own, scripted, turn = answered(checked_by(world, checker), "an answer")
    assert (turn.state, turn.answer, turn.unchecked, turn.chunks) == (TurnState.GENERATED, "an answer", True, [])
    assert turn.error is not None
    assert "an answer" not in turn.error
    assert isinstance(send(own, turn), RetryIn)
    assert own.delivered() == []
    send(own, turn)
    assert own.delivered() == ["an answer"]
    assert (len(scripted.asked), own.turn(turn.id).deliver_attempts) == (1, 1)


def test_a_check_that_always_fails_is_a_dead_letter_of_its_own_stage_and_can_be_replayed(
    world: World, checker: EngineSimulator
) -> None:
    checker.script(body='{"action": "maybe"}', times=4)
    checker.script(**PASS)
    silent = setting(checked_by(world, checker), "reply", apology="", pacing_seconds=0.0)
    own, scripted, turn = answered(silent, "an answer")
    outcomes = [send(own, turn) for _ in range(3)]
    assert [type(outcome) for outcome in outcomes] == [RetryIn, RetryIn, GiveUp]
    record_dead_letter(own.bridge, turn.id)
    letter = own.bridge.dead_letters.get(turn.id)
    assert letter is not None
    assert (letter.stage, letter.error_class) == ("check", "EngineUnavailable")
    assert "an answer" not in letter.error + letter.traceback
    assert replay(own.bridge, turn.id, "operator") == "the stored answer is sent"
    send(own, turn)
    assert (own.delivered(), len(scripted.asked)) == (["an answer"], 1)


def test_when_the_check_is_taken_away_the_answers_that_waited_for_it_go_out(
    world: World, checker: EngineSimulator
) -> None:
    own, _, turn = answered(checked_by(world, checker), "an answer")
    assert own.delivered() == []
    configure(own.bridge, own.share_id, {}, {"check_url": "", "check_secret": ""}, "operator")
    send(own, turn)
    assert (own.delivered(), record(own.turn(turn.id))) == (["an answer"], None)


def test_files_wait_for_the_check_of_their_text(world: World, checker: EngineSimulator) -> None:
    checker.script(**REFUSE)
    own, _ = looking(checked_by(world, checker), "look", AnswerFile(ItemKind.IMAGE, "", "image/png", png()))
    turn = queued(own, "draw")
    reply.generate_reply(own.bridge, turn.id)
    waiting = world.turn(turn.id).chunks
    assert [(chunk.text, chunk.media_id is None) for chunk in waiting] == [("", False)]
    deliver.deliver_reply(own.bridge, turn.id)
    assert own.delivered() == ["抱歉，这个问题我不方便回答。"]
    assert len(states(own, turn)) == 1


def test_an_answer_that_was_checked_is_not_checked_again_when_its_sending_is(
    world: World, checker: EngineSimulator
) -> None:
    checker.script(**PASS)
    broken = failing(checked_by(world, checker), "turns", "write_chunk", LedgerUnavailable("away"))
    own, _, turn = answered(broken, "an answer")
    assert (turn.state, turn.unchecked, states(own, turn)) == (TurnState.GENERATED, False, [ChunkState.WAITING])
    send(own, turn)
    assert (own.delivered(), len(checker.calls)) == (["an answer"], 1)


def test_neither_text_nor_secret_is_in_the_log(
    world: World, checker: EngineSimulator, capsys: pytest.CaptureFixture[str]
) -> None:
    checker.script(status=500, message="a forbidden thing")
    checker.script(**REFUSE)
    own, _, turn = answered(checked_by(world, checker, words=("thing => stuff",)), "a forbidden thing")
    send(own, turn)
    told = capsys.readouterr()
    assert turn.id in told.out + told.err
    assert "answer_checked" in told.out + told.err
    for secret in ("forbidden", SECRET):
        assert secret not in told.out + told.err
