"""Whole turns with a real engine behind them: what is recorded, what is tried again, and what nobody gets to see."""

from __future__ import annotations

import json

import pytest

from tests.engines.asking import KEY, Maker
from tests.flow.test_reply import let_time_pass, opened
from tests.support.variations import using
from tests.support.world import World
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.reply import generate_reply
from wechat_bridge.model.outcome import GiveUp, RetryIn
from wechat_bridge.model.turn import TurnState
from wechat_bridge.simulators.engine import EngineSimulator


@pytest.fixture
def asking(world: World, maker: Maker) -> World:
    """A channel whose engine speaks OpenAI's dialect."""
    return using(world, engines={"echo": maker.make("openai")})


def test_a_turn_is_answered_and_its_call_recorded(asking: World, server: EngineSimulator) -> None:
    server.script(text="<think>hm</think>**你好**")
    turn = asking.answer(opened(asking, "在吗"))
    assert turn.state is TurnState.SENT
    assert "hm" not in "".join(asking.delivered())
    call = turn.engine_call
    assert call is not None
    assert (call.engine, call.model, call.prompt_tokens, call.completion_tokens, call.finish_reason) == (
        "my-openai", "simulated-1", 11, 7, "stop",
    )  # fmt: skip


def test_an_engine_that_asks_for_a_pause_is_left_alone_for_it_and_then_asked_with_the_same_turn(
    asking: World, server: EngineSimulator
) -> None:
    server.script(status=429, headers={"Retry-After": "77"})
    turn = opened(asking)
    outcome = generate_reply(asking.bridge, turn.id)
    assert isinstance(outcome, RetryIn)
    assert outcome.seconds >= 77
    let_time_pass(asking, turn)
    generate_reply(asking.bridge, turn.id)
    assert asking.turn(turn.id).state is TurnState.GENERATED
    ids = [call.headers["idempotency-key"] for call in server.calls]
    assert ids == [turn.id, turn.id]


def test_a_wrong_key_gives_the_turn_up_at_once_and_the_key_is_kept_nowhere(
    asking: World, server: EngineSimulator, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    server.script(status=401, message=f"Incorrect key {KEY}")
    turn = opened(asking)
    assert isinstance(generate_reply(asking.bridge, turn.id), GiveUp)
    record_dead_letter(asking.bridge, turn.id)
    stored = asking.turn(turn.id)
    letter = asking.bridge.dead_letters.get(turn.id)
    assert letter is not None
    assert "check its key" in (stored.error or "")
    kept = stored.model_dump_json() + letter.model_dump_json() + json.dumps(asking.delivered())
    printed = capsys.readouterr()
    assert KEY not in kept + printed.out + printed.err + caplog.text
    assert len(server.calls) == 1
