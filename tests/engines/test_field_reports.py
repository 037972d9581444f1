"""Faults of engines that users of other bridges reported, with their inputs: report 8, and of 34 the engine's part.

Each is a whole turn: what the person reads, what the operator finds, and how often the engine is asked. Acceptance J12
stands at the end: a streamed answer is stored whole before its first piece is sent.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines.asking import Kind, Maker
from tests.flow.test_reply import let_time_pass, opened
from tests.support.system import wait_until
from tests.support.variations import setting, using
from tests.support.world import World
from wechat_bridge.flow import deliver
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.reply import generate_reply
from wechat_bridge.flow.typing_indicator import TypingIndicator
from wechat_bridge.model.outcome import Done, GiveUp, RetryIn
from wechat_bridge.model.turn import Turn, TurnState
from wechat_bridge.simulators.engine import EngineSimulator

KEY = "sk-test-123"
PREPROCESSOR = '{"code":500,"message":"Preprocessor error"}'


@pytest.fixture
def asking(world: World, maker: Maker) -> World:
    """A channel whose engine speaks OpenAI's dialect and has half a second for an answer."""
    quick = setting(world, "reply", engine_deadline_seconds=0.5, pacing_seconds=0.0)
    return using(quick, engines={"echo": maker.make("openai", api_key=KEY)})


def asked_until_over(world: World, turn: Turn) -> Turn:
    """Answer the doorbells of a turn, each when it is due, until it is answered or given up and recorded."""
    while (stored := world.turn(turn.id)).state is TurnState.QUEUED:
        let_time_pass(world, turn)
        generate_reply(world.bridge, turn.id)
    if stored.state is TurnState.DEAD:
        record_dead_letter(world.bridge, turn.id)
    deliver.deliver_reply(world.bridge, turn.id)
    return world.turn(turn.id)


def apology(world: World) -> str:
    """The fixed sentence of a turn that was given up."""
    return world.bridge.settings.reply.apology


@pytest.mark.parametrize("slow", [{"hang": True}, {"text": "too late", "delay_seconds": 0.7}], ids=["never", "late"])
def test_8_timeout_timeout_ok_is_one_answer(asking: World, server: EngineSimulator, slow: dict[str, Any]) -> None:
    server.script(**slow, times=2)
    server.script(text="ok")
    turn = asked_until_over(asking, opened(asking))
    assert (turn.state, turn.generate_attempts) == (TurnState.SENT, 3)
    assert asking.delivered() == ["ok"]
    assert {call.headers["idempotency-key"] for call in server.calls} == {turn.id}
    assert len(server.calls) == 3


def test_8_a_500_each_time_sends_no_empty_text_but_one_apology(asking: World, server: EngineSimulator) -> None:
    server.script(status=500, body=PREPROCESSOR, times=None)
    turn = asked_until_over(asking, opened(asking))
    assert (turn.state, len(server.calls)) == (TurnState.DEAD, 4)
    assert asking.delivered() == [apology(asking)]
    letter = asking.bridge.dead_letters.get(turn.id)
    assert letter is not None
    assert "500 Preprocessor error" in letter.error


@pytest.mark.parametrize("empty", [{"text": ""}, {"null": True}, {"text": " \n"}], ids=str)
def test_8_a_200_without_content_is_asked_again_and_never_sent(
    asking: World, server: EngineSimulator, empty: dict[str, Any]
) -> None:
    server.script(**empty)
    server.script(text="ok")
    assert asked_until_over(asking, opened(asking)).state is TurnState.SENT
    assert asking.delivered() == ["ok"]
    server.clear()
    server.script(**empty, times=None)
    turn = asked_until_over(asking, opened(asking, "again"))
    assert turn.state is TurnState.DEAD
    assert asking.delivered() == ["ok", apology(asking)]
    assert all(send["text"].strip() for send in asking.control.sends(asking.bot_id))


@pytest.mark.parametrize("own_key", [KEY, "another-key-of-ours"])
def test_8_a_key_in_the_body_of_a_401_is_in_no_chat_no_dead_letter_and_no_log(
    asking: World,
    maker: Maker,
    server: EngineSimulator,
    own_key: str,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    keyed = using(asking, engines={"echo": maker.make("openai", api_key=own_key)})
    server.script(status=401, message=f"Incorrect API key provided: {KEY}.")
    turn = opened(keyed)
    assert isinstance(generate_reply(keyed.bridge, turn.id), GiveUp), "not asked again"
    record_dead_letter(keyed.bridge, turn.id)
    assert keyed.delivered() == [apology(keyed)]
    database = keyed.wired.mongo.get_default_database()
    kept = "".join(str(list(database[name].find())) for name in database.list_collection_names())
    printed = capfd.readouterr()
    logged = printed.out + printed.err + caplog.text
    assert "Incorrect API key provided" in kept
    assert turn.id in logged
    assert KEY not in kept + logged + str(keyed.control.sends(keyed.bot_id))


def test_8_a_429_waits_as_told(asking: World, server: EngineSimulator) -> None:
    server.script(status=429, headers={"Retry-After": "7"})
    turn = opened(asking)
    before = asking.bridge.clock.now()
    outcome = generate_reply(asking.bridge, turn.id)
    assert isinstance(outcome, RetryIn)
    due = asking.turn(turn.id).next_attempt_at
    assert due is not None
    assert 7 <= (due - before).total_seconds() < 10
    generate_reply(asking.bridge, turn.id)
    assert len(server.calls) == 1, "a doorbell that comes early asks nobody"
    assert asked_until_over(asking, turn).state is TurnState.SENT
    assert asking.delivered() == ["hello"]


@pytest.mark.parametrize("stream", [True, False])
def test_34_half_a_character_in_the_json_of_an_engine_is_stored_and_sent_as_u_fffd(
    asking: World, maker: Maker, server: EngineSimulator, stream: bool
) -> None:
    choice = r'{"index": 0, "delta": {"content": "a\ud83db"}, "message": {"content": "a\ud83db"}}'
    whole = f'{{"choices": [{choice}]}}'
    kind = {"Content-Type": "text/event-stream" if stream else "application/json"}
    server.script(body=f"data: {whole}\n\ndata: [DONE]\n\n" if stream else whole, headers=kind)
    world = using(asking, engines={"echo": maker.make(Kind("openai", stream))})
    turn = asked_until_over(world, opened(world))
    assert turn.answer == "a\N{REPLACEMENT CHARACTER}b"
    assert world.delivered() == ["a\N{REPLACEMENT CHARACTER}b"]


def test_j12_a_streamed_answer_is_stored_whole_before_anything_is_sent_while_the_person_sees_typing(
    world: World, maker: Maker, server: EngineSimulator
) -> None:
    text = "streamed in pieces, " * 8
    streaming = using(world, engines={"echo": maker.make(Kind("openai", True))}, typing=TypingIndicator())
    server.script(text=text, piece_seconds=0.05)
    turn = opened(streaming)
    assert generate_reply(streaming.bridge, turn.id) == Done()
    stored = world.turn(turn.id)
    assert (stored.state, stored.answer) == (TurnState.GENERATED, text.strip())
    assert world.control.sends(world.bot_id) == []
    wait_until(lambda: len(world.control.typing(world.bot_id)) == 2, 5, "typing is shown and taken away")
    deliver.deliver_reply(streaming.bridge, turn.id)
    assert world.delivered() == [text.strip()]
