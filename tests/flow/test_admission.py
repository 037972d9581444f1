"""In front of an engine: who may ask, who waits in the ledger, and that an outage costs nobody an attempt."""

from __future__ import annotations

from typing import Any

from structlog.testing import capture_logs

from tests.flow.delivering import queued
from tests.flow.gated import Gated, age
from tests.support.doorbells import taken
from tests.support.variations import failing, using
from tests.support.world import World
from wechat_bridge.engines.base import Answer, Question
from wechat_bridge.errors import ConversationBusy, EngineRefused, EngineUnavailable, LedgerUnavailable
from wechat_bridge.flow import reply
from wechat_bridge.model.outcome import Done, GiveUp, RetryIn
from wechat_bridge.model.turn import TurnState

AWAY = EngineUnavailable("engine gpt (https://gpt.example): HTTP 503")
DAY_SECONDS = 86_400


# while all is well


def test_an_engine_that_answers_leaves_nothing_behind(world: World) -> None:
    gated = Gated.create(world, "yes")
    (turn,) = gated.turns("ann")
    assert gated.world.answer(turn).state is TurnState.SENT
    assert world.delivered() == ["yes"]
    assert list(world.wired.redis.scan_iter(f"*{gated.engine.name}")) == []


def test_the_echo_and_commands_need_no_redis_in_front_of_them(world: World) -> None:
    no_gate = failing(world, "gates", "admit", AssertionError("nobody guards it"))
    assert no_gate.answer(queued(no_gate)).state is TurnState.SENT


def test_a_command_is_answered_while_the_engine_is_down(world: World) -> None:
    gated = Gated.create(world, AWAY)
    gated.shut()
    command = gated.command("third")
    assert gated.world.answer(command).state is TurnState.SENT
    assert gated.state.waiting == 1, "the command is not in the line"


# an engine that is down


def test_the_failures_of_a_few_people_keep_all_others_from_asking_and_cost_them_nothing(world: World) -> None:
    gated = Gated.create(world, AWAY)
    first, second, third = gated.turns("first", "second", "third")
    with capture_logs() as lines:
        outcomes = [gated.generate(turn) for turn in (first, second, third)]
    assert [type(outcome) for outcome in outcomes] == [RetryIn, RetryIn, Done]
    assert gated.attempts(third) == (TurnState.QUEUED, 0), "what showed that the engine is down is given back"
    opened = [line for line in lines if line["event"] == "engine_opened"]
    assert [(line["engine"], line["reason"]) for line in opened] == [(gated.engine.name, str(AWAY))]
    (late,) = gated.turns("late")
    before = world.turn(late.id)
    assert reply.generate_reply(gated.world.bridge, late.id) == Done()
    assert world.turn(late.id) == before, "nothing is written for a turn that waits"
    assert [question.user_id for question in gated.engine.asked] == [
        world.user(name) for name in ("first", "second", "third")
    ]
    assert gated.state.waiting == 2


def test_a_lone_question_outlasts_an_outage_that_is_longer_than_all_its_retries(world: World) -> None:
    gated = Gated.create(world, AWAY)
    (turn,) = gated.turns("ann")
    for _ in range(3):
        gated.generate(turn)
    for _ in range(20):
        gated.pass_pause()
        assert gated.generate(turn) == Done()
    assert gated.attempts(turn) == (TurnState.QUEUED, 2)
    assert len(gated.engine.asked) == 23
    gated.say("here I am")
    gated.pass_pause()
    gated.generate(turn)
    gated.world.answer(turn)
    assert world.delivered() == ["here I am"]


def test_the_outage_is_known_before_a_lone_question_is_given_up_whatever_the_settings(world: World) -> None:
    gated = Gated.create(world, AWAY)
    settings = gated.world.bridge.settings
    rules = settings.breaker.model_copy(update={"failures": 100})
    gated.world = using(gated.world, settings=settings.model_copy(update={"breaker": rules}))
    (turn,) = gated.turns("ann")
    outcomes = [gated.generate(turn) for _ in range(settings.reply.max_retries + 1)]
    assert outcomes[-1] == Done()
    assert gated.state.is_open


def test_when_the_engine_is_back_one_tries_and_all_others_follow_without_a_sweep(world: World) -> None:
    gated = Gated.create(world, AWAY)
    names = [f"p{number}" for number in range(12)]
    gated.shut()
    for turn in gated.turns(*names):
        reply.generate_reply(gated.world.bridge, turn.id)
    assert gated.work() == 0, "nobody is rung while it is down"
    gated.say("yes")
    gated.pass_pause()
    (probe,) = gated.turns("probe")
    with capture_logs() as lines:
        reply.generate_reply(gated.world.bridge, probe.id)
        gated.work()
    assert [world.delivered(name) for name in names] == [["yes"]] * 12
    assert world.delivered("third") == ["yes"]
    assert [line["engine"] for line in lines if line["event"] == "engine_closed"] == [gated.engine.name]
    assert gated.state.waiting == 0


def test_a_question_on_which_the_engine_fails_while_it_answers_others_is_given_up_like_any_other(
    world: World,
) -> None:
    gated = Gated.create(world, AWAY)
    (bad,) = gated.turns("bad")
    for _ in range(3):
        gated.generate(bad)
    gated.engine.answer = _fails_on(world.user("bad"))  # type: ignore[method-assign]
    outcome: Any = None
    for number in range(6):
        gated.pass_pause()
        (good,) = gated.turns(f"good-{number}")
        gated.generate(good)
        outcome = gated.generate(bad)
        if isinstance(outcome, GiveUp):
            break
    assert isinstance(outcome, GiveUp)
    assert number < 3, "others are not kept waiting by it for long"
    assert world.turn(bad.id).state is TurnState.DEAD


def _fails_on(user_id: str) -> Any:
    def answer(question: Question) -> Answer:
        if question.user_id == user_id:
            raise AWAY
        return Answer("yes")

    return answer


def test_what_the_engine_refuses_and_what_fails_on_our_side_does_not_shut_the_gate(world: World) -> None:
    ours = LedgerUnavailable("MongoDB: away")
    gated = Gated.create(world, *[EngineRefused("wrong key")] * 4, *[ours] * 4, "yes")
    for turn in gated.turns(*(f"p{number}" for number in range(8))):
        gated.generate(turn)
    assert len(gated.engine.asked) == 8
    assert not gated.state.is_open


def test_an_engine_that_is_busy_with_one_conversation_answers_all_others(world: World) -> None:
    gated = Gated.create(world, *[ConversationBusy("409", retry_after_seconds=30.0)] * 4, "yes")
    for turn in gated.turns(*(f"p{number}" for number in range(5))):
        gated.generate(turn)
    assert len(gated.engine.asked) == 5
    assert not gated.state.is_open


def test_an_engine_that_asks_for_a_pause_gets_it_from_everybody(world: World) -> None:
    gated = Gated.create(world, EngineUnavailable("HTTP 429", retry_after_seconds=30.0), "yes")
    asked, other = gated.turns("ann", "bob")
    assert gated.generate(asked) == Done()
    assert gated.attempts(asked) == (TurnState.QUEUED, 0)
    assert [each.args for each in taken(world, "reply")] == [[asked.id]], "a doorbell for the end of the pause"
    gated.generate(other)
    assert len(gated.engine.asked) == 1
    gated.pass_pause()
    gated.generate(other)
    gated.work()
    assert (world.delivered("ann"), world.delivered("bob")) == (["yes"], [])
    gated.world.answer(other)
    assert world.delivered("bob") == ["yes"]


def test_a_question_to_which_wechat_takes_no_answer_any_more_does_not_wait_for_the_engine(world: World) -> None:
    gated = Gated.create(world, AWAY)
    gated.shut()
    (old,) = gated.turns("old")
    age(world, old, DAY_SECONDS + 60)
    for attempt in (1, 2, 3):
        gated.pass_pause()
        assert isinstance(gated.generate(old), RetryIn)
        assert gated.attempts(old) == (TurnState.QUEUED, attempt)
    gated.pass_pause()
    assert isinstance(gated.generate(old), GiveUp)
