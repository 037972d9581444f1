"""What an engine said reaches a person only as the words of its channel allow, and labelled."""

from __future__ import annotations

from typing import Any

import pytest

from tests.flow.delivering import queued, send
from tests.flow.outgoing_steps import (
    LABEL,
    answered,
    checked_by,
    checker,
    record,
    under,
)
from tests.flow.people.admitting import wrote
from tests.support.media import looking
from tests.support.pictures import png
from tests.support.variations import engine, setting, wrapping
from tests.support.world import World
from wechat_bridge.engines.base import AnswerFile, Question
from wechat_bridge.errors import EngineRefused
from wechat_bridge.flow import reply
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.people.notice import send_notice
from wechat_bridge.model.message import ItemKind
from wechat_bridge.model.outgoing import CheckResult
from wechat_bridge.model.turn import Lane, TurnState
from wechat_bridge.simulators.engine import EngineSimulator

__all__ = ["checker"]


# words


@pytest.mark.parametrize(
    ("answer", "seen", "result"),
    [
        ("all is well", ["all is well"], CheckResult.PASSED),
        ("有敏感词啊", ["有＊＊＊啊"], CheckResult.REPLACED),
        ("a secret plan", ["抱歉，这个问题我不方便回答。"], CheckResult.REFUSED),
    ],
)
def test_words_let_an_answer_pass_or_replace_or_refuse_it(
    world: World, answer: str, seen: list[str], result: CheckResult
) -> None:
    own, _, turn = answered(under(world, words=("敏感词 =>", "secret plan")), answer)
    assert own.delivered() == seen
    assert (turn.state, turn.answer, record(turn)) == (TurnState.SENT, seen[0], (result, "words"))


def test_a_refused_answer_may_end_in_silence_and_the_turn_says_so(world: World) -> None:
    own, _, turn = answered(under(world, words=("secret",), refusal=""), "my secret")
    assert own.delivered() == []
    assert (turn.state, turn.error, turn.open) == (TurnState.SKIPPED, "refused by the outgoing check", False)
    assert (record(turn), turn.answer) == ((CheckResult.REFUSED, "words"), None)


def test_what_is_remembered_is_what_the_person_saw(world: World) -> None:
    own, scripted = engine(under(world, words=("bad => good", "worst"), label=LABEL), "a bad one", "the worst", "fine")
    for text in ("one", "two", "three"):
        own.answer(queued(own, text))
    history: list[Question] = scripted.asked
    assert [(each.question, each.answer) for each in history[-1].history] == [
        ("one", "a good one"), ("two", "抱歉，这个问题我不方便回答。"),
    ]  # fmt: skip


def test_a_refused_answer_takes_its_files_along(world: World) -> None:
    picture = AnswerFile(ItemKind.IMAGE, "", "image/png", png())
    drawing, _ = looking(under(world, words=("secret",)), "a secret drawing", picture)
    turn = queued(drawing, "draw")
    reply.generate_reply(drawing.bridge, turn.id)
    chunks = world.turn(turn.id).chunks
    assert [(chunk.text, chunk.media_id) for chunk in chunks] == [("抱歉，这个问题我不方便回答。", None)]
    assert list(world.bridge.media.collection.find({"_id": {"$regex": turn.id}})) == []


# the label


def test_the_label_is_the_last_line_of_an_answer(world: World) -> None:
    own, _, turn = answered(under(world, label=LABEL), "well.\n" * 60)
    assert own.delivered() == ["\n".join(["well."] * 60) + f"\n\n{LABEL}"]
    assert turn.answer is not None
    assert LABEL not in turn.answer


def test_the_label_is_counted_in_the_send_budget(world: World) -> None:
    short = setting(under(world, label=LABEL), "reply", chunk_characters=40, chunk_bytes=120, sends_per_message=3)
    own, _, _ = answered(short, "word " * 500)
    seen = own.delivered()
    assert len(seen) == 3
    assert seen[-1].endswith(f"\n\n{LABEL}")
    assert all(len(text.encode()) <= 120 for text in seen)


def test_only_what_an_engine_said_is_labelled_and_checked(world: World) -> None:
    own = under(world, label=LABEL, words=("Commands", "hand", "抱歉"))
    wrote(own, "/help")
    turn = own.bridge.turns.open_of(own.chat(), Lane.COMMAND)
    assert turn is not None
    assert own.answer(turn).state is TurnState.SENT
    notice = send_notice(own.bridge, own.share_id, own.user(), "by hand", "n1")
    send(own, own.turn(notice))
    broken, _, dead = answered(own, EngineRefused("no such model"))
    record_dead_letter(broken.bridge, dead.id)
    seen = own.delivered()
    assert [text[:3] for text in seen] == ["可用命", "by ", "抱歉，"]
    assert LABEL not in "".join(seen)


@pytest.mark.parametrize("files", [(), (AnswerFile(ItemKind.IMAGE, "", "image/png", png()),)], ids=["silence", "file"])
def test_silence_and_files_alone_get_no_label_and_no_check(
    world: World, checker: EngineSimulator, files: tuple[AnswerFile, ...]
) -> None:
    own, _ = looking(checked_by(world, checker, label=LABEL), "", *files)
    turn = queued(own)
    reply.generate_reply(own.bridge, turn.id)
    stored = world.turn(turn.id)
    assert [chunk.text for chunk in stored.chunks] == [""] * len(files)
    assert (stored.unchecked, checker.calls) == (False, [])


def test_what_the_bridge_says_of_a_file_it_cannot_send_is_not_labelled(world: World) -> None:
    large = AnswerFile(ItemKind.IMAGE, "", "image/png", png())
    own, _ = looking(setting(under(world, label=LABEL), "media", most_bytes=10), "", large)
    turn = queued(own, "draw")
    reply.generate_reply(own.bridge, turn.id)
    (chunk,) = world.turn(turn.id).chunks
    assert chunk.text
    assert LABEL not in chunk.text


# what it costs


def test_a_channel_without_a_check_writes_as_often_as_one_with_words_and_label(world: World) -> None:
    def writes(own: World) -> int:
        wrapped, calls = own, list[str]()
        for name in ("claim", "release", "write", "write_chunk", "finish", "close"):
            wrapped = _counting(wrapped, name, calls)
        wrapped.answer(queued(wrapped))
        return len(calls)

    plain = setting(world, "reply", pacing_seconds=0.0)
    before = writes(plain)
    assert writes(under(world, words=("bad",), label=LABEL)) == before


def _counting(world: World, method: str, calls: list[str]) -> World:
    real = getattr(world.bridge.turns, method)

    def call(*args: Any, **kwargs: Any) -> Any:
        calls.append(method)
        return real(*args, **kwargs)

    return wrapping(world, "turns", method, call)
