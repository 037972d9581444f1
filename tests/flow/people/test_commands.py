"""Chat commands: they wait for nothing, act on what was said before them, and are answered like anything else."""

from __future__ import annotations

import pytest

from tests.support.doorbells import taken
from tests.support.variations import engine, setting
from tests.support.world import World
from wechat_bridge.flow import deliver, reply, turns
from wechat_bridge.flow.people import commands
from wechat_bridge.model.message import InboundMessage
from wechat_bridge.model.turn import Lane, Turn, TurnState


@pytest.fixture
def patient(world: World) -> World:
    """A channel that waits a second for more messages."""
    return setting(world, "debounce", idle_seconds=1.0)


def command_turn(world: World) -> Turn:
    """The open turn of the last command."""
    turn = world.bridge.turns.open_of(world.chat(), Lane.COMMAND)
    assert turn is not None
    return turn


def tell(world: World, words: str) -> Turn:
    """Let ann write a command, and flush at once; return its turn as it is answered."""
    world.receive(world.text(words))
    assert [each.eta for each in taken(world, "inbox")][-1:] == [None], "it waits for no others"
    turns.flush_conversation(world.bridge, world.chat())
    return world.answer(command_turn(world))


def ask(world: World, *words: str) -> tuple[Turn, list[InboundMessage]]:
    """Let ann ask; return the open turn."""
    messages = [world.text(each) for each in words]
    world.receive(*messages)
    world.make_due()
    turn = world.flush()
    assert turn is not None
    return turn, messages


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("/help", commands.HELP_TEXT),
        ("/clear", commands.CLEARED_TEXT),
        ("/stop", commands.NOTHING_TO_STOP_TEXT),
        ("/status", "空闲，可以直接提问。\nIdle."),
    ],
)
def test_a_command_is_answered_at_once_without_the_engine(patient: World, words: str, said: str) -> None:
    asking, scripted = engine(patient, "the engine's answer")
    turn = tell(asking, words)
    assert (turn.state, turn.lane, turn.open) == (TurnState.SENT, Lane.COMMAND, False)
    assert patient.delivered() == [said]
    assert scripted.asked == []
    assert patient.bridge.turns.open_of(patient.chat()) is None


def test_what_waited_becomes_its_own_turn_first_and_the_command_does_not_reach_the_engine(patient: World) -> None:
    asking, scripted = engine(patient, "the engine's answer")
    asking.receive(asking.text("hello"))
    tell(asking, "/help")
    question = asking.bridge.turns.open_of(asking.chat())
    assert question is not None
    asking.answer(question)
    assert [each.text for each in scripted.asked] == ["hello"]
    assert patient.delivered() == [commands.HELP_TEXT, "the engine's answer"]


def test_a_command_is_answered_while_a_reply_is_in_work(patient: World) -> None:
    ask(patient, "a long story")
    patient.receive(patient.text("and another"))
    tell(patient, "/status")
    assert patient.delivered() == ["正在处理，另有 1 条消息在等。\nAt work; 1 messages wait."]


@pytest.mark.parametrize("state", [TurnState.QUEUED, TurnState.GENERATING, TurnState.GENERATED, TurnState.DELIVERING])
def test_stop_ends_a_reply_wherever_it_stands(patient: World, state: TurnState) -> None:
    turn, (message,) = ask(patient, "a long story")
    bridge = patient.bridge
    if state is not TurnState.QUEUED:
        lease = bridge.clock.after(60)
        held = bridge.turns.claim(turn.id, TurnState.QUEUED, TurnState.GENERATING, "me", bridge.clock.now(), lease)
        assert held is not None
        if state in (TurnState.GENERATED, TurnState.DELIVERING):
            bridge.turns.release(held, TurnState.GENERATED, bridge.clock.now(), bridge.clock.now())
        if state is TurnState.DELIVERING:
            held = bridge.turns.claim(turn.id, TurnState.GENERATED, state, "me", bridge.clock.now(), lease)
    tell(patient, "/stop")
    ended = patient.turn(turn.id)
    assert (ended.state, ended.open, ended.error) == (TurnState.SKIPPED, False, commands.STOPPED)
    assert patient.row_state(message)[0] == "done"
    reply.generate_reply(bridge, turn.id)
    deliver.deliver_reply(bridge, turn.id)
    assert patient.delivered() == [commands.STOPPED_TEXT]


def test_what_a_worker_finds_out_after_stop_is_not_sent(patient: World) -> None:
    turn, _ = ask(patient, "a long story")
    stopping, scripted = engine(patient, "too late")
    answer = scripted.answer

    def stop_meanwhile(question: object) -> object:
        tell(patient, "/stop")
        return answer(question)  # type: ignore[arg-type]

    scripted.answer = stop_meanwhile  # type: ignore[method-assign,assignment]
    stopping.answer(turn)
    assert patient.delivered() == [commands.STOPPED_TEXT]
    assert patient.turn(turn.id).state is TurnState.SKIPPED


def test_stop_drops_what_waits_but_not_what_is_said_afterwards(patient: World) -> None:
    ask(patient, "first")
    waiting = patient.text("second")
    patient.receive(waiting)
    tell(patient, "/stop")
    assert patient.row_state(waiting) == ("skipped", commands.STOPPED)
    turn, _ = ask(patient, "third")
    patient.answer(turn)
    assert patient.delivered() == [commands.STOPPED_TEXT, "third"]


def test_a_stop_that_is_done_again_does_not_end_what_was_asked_after_it(patient: World) -> None:
    patient.receive(patient.text("/stop"))
    turns.flush_conversation(patient.bridge, patient.chat())
    late = command_turn(patient)
    turn, _ = ask(patient, "a new question")
    patient.answer(late)
    assert patient.turn(turn.id).state is TurnState.QUEUED
    assert patient.delivered() == [commands.NOTHING_TO_STOP_TEXT]


def test_clear_notes_from_when_on_engines_may_know_the_conversation(patient: World) -> None:
    before = patient.bridge.clock.now()
    turn = tell(patient, "清空")
    conversation = patient.bridge.conversations.get(patient.chat())
    assert conversation is not None
    assert conversation.memory_from is not None
    assert abs((conversation.memory_from - before).total_seconds()) < 5
    assert conversation.memory_from == turn.times["queued"]


def test_two_commands_are_answered_in_order(patient: World) -> None:
    patient.receive(patient.text("/help"), patient.text("/status"))
    turns.flush_conversation(patient.bridge, patient.chat())
    patient.answer(command_turn(patient))
    turns.flush_conversation(patient.bridge, patient.chat())
    patient.answer(command_turn(patient))
    assert patient.delivered()[0] == commands.HELP_TEXT
    assert len(patient.delivered()) == 2
    conversation = patient.bridge.conversations.get(patient.chat())
    assert conversation is not None
    turns.flush_conversation(patient.bridge, patient.chat())
    assert patient.bridge.conversations.get(patient.chat()).flush_at is None  # type: ignore[union-attr]
