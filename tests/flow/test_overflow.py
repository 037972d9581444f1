"""More waits of one person than may: the newest fail, their person is told once, the oldest are answered (J6)."""

from __future__ import annotations

import pytest

from tests.flow.delivering import answer_all, flush, queued
from tests.flow.people.admitting import notice, told, under, wrote
from tests.support.variations import failing, setting, wrapping
from tests.support.world import World
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow import overflow, reply, turns
from wechat_bridge.model.access import Policy
from wechat_bridge.model.channel import QueueMode
from wechat_bridge.model.message import InboundMessage
from wechat_bridge.model.turn import Lane

FAILED = ("failed", "overflow")
MOST = 3


@pytest.fixture
def capped(world: World) -> World:
    """A channel at which three messages of one person may wait."""
    return setting(setting(world, "debounce", most_waiting=MOST), "reply", pacing_seconds=0.0)


def messages(world: World, first: int, last: int) -> list[InboundMessage]:
    """Messages of ann by number."""
    return [world.text(f"m{number}") for number in range(first, last + 1)]


def test_a_hundred_may_wait_by_default_and_the_next_one_fails(world: World) -> None:
    quick = setting(world, "reply", pacing_seconds=0.0)
    queued(quick, "m1")
    waiting = messages(world, 2, 102)
    quick.receive(*waiting)
    flush(quick)
    assert [quick.row_state(each) for each in waiting] == [("pending", "")] * 100 + [FAILED]
    assert told(quick) == "消息太多，后面的消息没有处理，请稍后再发。"


def test_what_was_there_first_is_answered_in_order_and_the_open_turn_is_no_victim(capped: World) -> None:
    capped.receive(*messages(capped, 1, 3))
    first = flush(capped)
    assert first is not None
    waiting = messages(capped, 4, 9)
    capped.receive(*waiting)
    flush(capped)
    assert [capped.row_state(each) for each in waiting] == [("pending", "")] * 3 + [FAILED] * 3
    told(capped)
    assert "\n".join([text for text in answer_all(capped) if text.startswith("m")]).split("\n") == [
        f"m{number}" for number in range(1, 7)
    ]


def test_the_person_is_told_once_until_nothing_waits_any_more(capped: World) -> None:
    queued(capped, "m1")
    for message in messages(capped, 2, 8):
        capped.receive(message)
        flush(capped)
    text = told(capped)
    for message in messages(capped, 9, 12):
        capped.receive(message)
        flush(capped)
    assert notice(capped) is None
    assert answer_all(capped).count(text) == 1
    queued(capped, "m13")
    capped.receive(*messages(capped, 14, 17))
    flush(capped)
    told(capped)
    assert capped.delivered().count(text) == 2


def test_a_channel_that_says_nothing_about_it_still_records_it(capped: World) -> None:
    silent = setting(capped, "reply", overflow_text="")
    queued(silent, "m1")
    waiting = messages(silent, 2, 5)
    silent.receive(*waiting)
    flush(silent)
    assert silent.row_state(waiting[-1]) == FAILED
    assert notice(silent) is None


def test_commands_pass_however_much_waits(capped: World) -> None:
    queued(capped, "m1")
    capped.receive(*messages(capped, 2, 9))
    (command,) = wrote(capped, "/stop")
    turn = capped.bridge.turns.open_of(capped.chat(), Lane.COMMAND)
    assert turn is not None
    reply.generate_reply(capped.bridge, turn.id)
    assert capped.row_state(command) == ("in_turn", "")
    assert capped.bridge.turns.open_of(capped.chat()) is None


def test_who_may_not_talk_is_refused_and_told_of_no_overflow(capped: World) -> None:
    under(capped, Policy.ALLOWLIST)
    refused = messages(capped, 1, 9)
    capped.receive(*refused)
    flush(capped)
    assert {capped.row_state(each)[0] for each in refused} == {"skipped"}
    assert notice(capped) is None


def test_nobody_else_is_concerned(capped: World) -> None:
    queued(capped, "m1")
    capped.receive(*messages(capped, 2, 9))
    flush(capped)
    bob = capped.text("from bob", name="bob")
    capped.receive(bob)
    capped.make_due("bob")
    turn = capped.flush("bob")
    assert turn is not None
    capped.answer(turn)
    assert capped.delivered("bob") == ["from bob"]


def test_a_flush_reads_no_more_than_it_must_and_looks_at_the_rest_at_once(
    capped: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overflow, "BATCH", 5)
    short = setting(capped, "debounce", most_messages=2)
    queued(short, "m1")
    waiting = messages(short, 2, 60)
    short.receive(*waiting)
    read: list[int] = []
    real = short.bridge.inbox.pending

    def pending(*args: object) -> object:
        rows = real(*args)  # type: ignore[arg-type]
        read.append(len(rows))
        return rows

    counted = wrapping(short, "inbox", "pending", pending)
    short.make_due()
    for _ in range(20):  # nobody makes it due again: each flush sees to that
        turns.flush_conversation(counted.bridge, short.chat())
    assert max(read) == MOST + 2 + 5
    assert [short.row_state(each) for each in waiting] == [("pending", "")] * MOST + [FAILED] * 56


def test_what_is_read_first_was_stored_first_even_after_rows_have_come_and_gone(capped: World) -> None:
    for start in (1, 101, 201):
        rows = messages(capped, start, start + 99)
        capped.receive(*rows)
        first = [row.message_id for row in capped.bridge.inbox.pending(capped.chat(), 10)]
        assert sorted(first) == [message.message_id for message in rows[:10]]
        capped.bridge.inbox.skip([f"{capped.share_id}:{message.message_id}" for message in rows], "gone")


@pytest.mark.parametrize(("part", "method"), [("inbox", "fail"), ("turns", "open")], ids=str)
def test_a_process_that_dies_in_between_leaves_it_to_the_next_one_which_tells_no_second_time(
    capped: World, part: str, method: str
) -> None:
    queued(capped, "m1")
    waiting = messages(capped, 2, 5)
    capped.receive(*waiting)
    capped.make_due()
    with pytest.raises(LedgerUnavailable):
        turns.flush_conversation(failing(capped, part, method, LedgerUnavailable("away")).bridge, capped.chat())
    flush(capped)
    text = told(capped)
    capped.receive(*messages(capped, 6, 7))
    flush(capped)
    assert capped.row_state(waiting[-1]) == FAILED
    assert notice(capped) is None
    assert capped.delivered() == [text]


def test_under_interrupt_the_newest_runs_however_many_wait(capped: World) -> None:
    capped.bridge.channels.configure(capped.share_id, {"queue_mode": QueueMode.INTERRUPT.value})
    queued(capped, "m1")
    waiting = messages(capped, 2, 9)
    capped.receive(*waiting)
    assert answer_all(capped) == ["m9"]
    assert {capped.row_state(each) for each in waiting[:-1]} == {("skipped", "superseded")}


def test_under_interrupt_more_than_one_flush_reads_is_superseded_step_by_step(
    capped: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overflow, "BATCH", 5)
    short = setting(capped, "debounce", most_messages=2)
    capped.bridge.channels.configure(capped.share_id, {"queue_mode": QueueMode.INTERRUPT.value})
    queued(short, "m1")
    waiting = messages(short, 2, 60)
    short.receive(*waiting)
    short.make_due()
    for _ in range(10):  # nobody makes it due again: each flush sees to that
        turns.flush_conversation(short.bridge, short.chat())
    turn = short.bridge.turns.open_of(short.chat())
    assert turn is not None
    assert short.answer(turn).question == "m60"
    assert {short.row_state(each)[1] for each in waiting[:-1]} == {"superseded"}
    assert short.delivered() == ["m60"]
