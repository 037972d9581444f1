"""What engines are told of the conversation before, until the person starts anew."""

from __future__ import annotations

from tests.flow.delivering import queued
from tests.support.variations import failing, setting, using
from tests.support.world import World
from wechat_bridge.engines.base import Answer, Question
from wechat_bridge.engines.echo import EchoEngine
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow import turns
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.model.turn import Lane


class Remembering:
    """An engine that notes what it is told, and gives each conversation a name of its own."""

    name = "echo"

    def __init__(self) -> None:
        self.asked: list[Question] = []

    def answer(self, question: Question) -> Answer:
        """Answer, and name the conversation at first."""
        self.asked.append(question)
        return Answer(
            text=f"answer {len(self.asked)}", engine_conversation=question.engine_conversation or f"c{len(self.asked)}"
        )


def talk(world: World, text: str, name: str = "ann") -> None:
    world.answer(queued(world, text, name))


def clear(world: World) -> None:
    world.receive(world.text("/clear"))
    turns.flush_conversation(world.bridge, world.chat())
    turn = world.bridge.turns.open_of(world.chat(), Lane.COMMAND)
    assert turn is not None
    world.answer(turn)


def test_an_engine_is_told_what_was_said_before_in_this_conversation_alone(world: World) -> None:
    engine = Remembering()
    talking = using(setting(world, "reply", pacing_seconds=0.0), engines={"echo": engine})
    talk(talking, "one")
    talk(talking, "of bob", "bob")
    talk(talking, "two")
    told = [(each.text, [(r.question, r.answer) for r in each.history]) for each in engine.asked]
    assert told == [("one", []), ("of bob", []), ("two", [("one", "answer 1")])]
    assert [each.engine_conversation for each in engine.asked] == ["", "", "c1"]


def test_after_clear_an_engine_knows_nothing_of_before(world: World) -> None:
    engine = Remembering()
    talking = using(setting(world, "reply", pacing_seconds=0.0), engines={"echo": engine})
    talk(talking, "one")
    clear(talking)
    talk(talking, "two")
    talk(talking, "three")
    assert [(each.history, each.engine_conversation) for each in engine.asked[:2]] == [((), ""), ((), "")]
    assert engine.asked[1].memory_id != engine.asked[0].memory_id
    assert [each.question for each in engine.asked[2].history] == ["two"]
    assert (engine.asked[2].memory_id, engine.asked[2].engine_conversation) == (engine.asked[1].memory_id, "c2")


def test_another_engine_does_not_get_the_name_that_the_one_before_gave(world: World) -> None:
    first, second = Remembering(), Remembering()
    second.name = "other"
    talking = using(setting(world, "reply", pacing_seconds=0.0), engines={"echo": first, "other": second})
    talk(talking, "one")
    talking.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": {"engine": "other"}})
    talk(talking, "two")
    assert second.asked[0].engine_conversation == ""
    assert [each.question for each in second.asked[0].history] == ["one"]


def test_a_name_that_comes_after_clear_is_not_kept(world: World) -> None:
    class Slow(Remembering):
        """Is overtaken by /clear."""

        def answer(self, question: Question) -> Answer:
            """Let the person start anew, then answer."""
            if not self.asked:
                world.bridge.conversations.forget_before(question.chat_id, world.bridge.clock.now())
            return super().answer(question)

    engine = Slow()
    talking = using(setting(world, "reply", pacing_seconds=0.0), engines={"echo": engine})
    talk(talking, "one")
    talk(talking, "two")
    assert engine.asked[1].engine_conversation == ""


def test_a_ledger_that_refuses_the_name_costs_no_answer_and_gets_it_later(world: World) -> None:
    engine = Remembering()
    talking = using(setting(world, "reply", pacing_seconds=0.0), engines={"echo": engine}, unfinished=Unfinished())
    away = failing(talking, "conversations", "name_for_engine", LedgerUnavailable("away"))
    talk(away, "one")
    assert [each.text for each in engine.asked] == ["one"], "asked once"
    assert world.delivered() == ["answer 1"]
    away.bridge.unfinished.work_off()
    talk(talking, "two")
    assert engine.asked[1].engine_conversation == "c1"


def test_an_engine_that_needs_no_memory_is_told_nothing(world: World) -> None:
    class Plain(Remembering):
        """Needs none."""

        needs_memory = False

    engine = Plain()
    talking = using(setting(world, "reply", pacing_seconds=0.0), engines={"echo": engine})
    talk(talking, "one")
    talk(talking, "two")
    assert [each.history for each in engine.asked] == [(), ()]
    assert EchoEngine.needs_memory is False
