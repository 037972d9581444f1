"""Old messages lose their bodies, then go, in small steps; what unfinished work refers to stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import count

import pytest

from tests.support import healthy
from tests.support.variations import failing, setting
from tests.support.world import World
from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.retention import Retention
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.model import keys
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.model.message import InboxRow, InboxState, inbox_row
from wechat_bridge.model.turn import TurnState
from wechat_bridge.store.ledger import to_document
from wechat_bridge.store.retention import MOST

MOST_PASSES = 400
_numbers = count()


@pytest.fixture(autouse=True)
def _empty_ledger(world: World) -> None:
    """Nothing is old but what the test makes so."""
    bridge = world.bridge
    for store in (bridge.inbox, bridge.conversations, bridge.turns, bridge.dead_letters):
        store.collection.delete_many({})


def ago(world: World, days: float) -> datetime:
    return world.bridge.clock.now() - timedelta(days=days)


def run(bridge: Bridge) -> int:
    """Let retention look after everything; return in how many passes."""
    retention = Retention()
    for number in range(1, MOST_PASSES):
        if not retention.go_on(bridge):
            return number
    raise AssertionError("it never ends")


def rows(world: World, days: float, number: int = 1, **fields: object) -> list[InboxRow]:
    """Finished messages of so many days ago."""
    values: dict[str, object] = {"state": InboxState.DONE, "raw": '{"text":"hi"}', "context_token": "wx"} | fields
    made = []
    for _ in range(number):
        at = ago(world, days) - timedelta(milliseconds=next(_numbers))
        made.append(inbox_row(world.text("hi"), world.share_id, 1, at, "poll").model_copy(update=values))
    world.bridge.inbox.collection.insert_many([to_document(row) for row in made])
    return made


def turn(world: World, days: float, is_open: bool = False, state: TurnState = TurnState.SENT) -> str:
    """A turn of so many days ago; return its id."""
    made = healthy.open_turn(world.bridge, state=state, open=is_open, ring_at=None)
    if not is_open:
        world.bridge.turns.collection.update_one({"_id": made.id}, {"$set": {"times.closed": ago(world, days)}})
    return made.id


def letter(world: World, turn_id: str, days: float, **fields: object) -> str:
    """A dead letter of so many days ago; return its id."""
    at = ago(world, days)
    values = {"share_id": world.share_id, "chat_id": "c", "stage": "reply", "error_class": "", "error": "",
              "traceback": "", "attempts": 1, "original": [], "trace_id": ""} | fields  # fmt: skip
    world.bridge.dead_letters.record(
        DeadLetter.model_validate(values | {"id": turn_id, "first_failure_at": at, "last_failure_at": at})
    )
    return turn_id


def conversation(world: World, days: float, name: str, **fields: object) -> str:
    """A conversation whose person wrote last so many days ago; return its id."""
    chat_id = keys.chat_id(world.share_id, name)
    values = {"id": chat_id, "share_id": world.share_id, "user_id": name, "rev": 3, "context_at": ago(world, days)}
    world.bridge.conversations.collection.insert_one(to_document(Conversation.model_validate(values | fields)))
    return chat_id


def kept(world: World, made: Sequence[InboxRow]) -> list[bool | None]:
    """What is left of each message: True with its body, False without, None when it is gone."""
    found = [world.bridge.inbox.get(row.id) for row in made]
    return [bool(row.raw) if row else None for row in found]


def test_finished_messages_lose_their_bodies_after_a_week_and_go_after_a_month(world: World) -> None:
    made = [rows(world, days)[0] for days in (1, 6.9, 7.1, 29.9, 30.1, 90)]
    run(world.bridge)
    assert kept(world, made) == [True, True, False, False, None, None]
    bare = world.bridge.inbox.get(made[2].id)
    assert bare is not None
    assert (bare.items[0].text, bare.context_token, bare.message_id) == ("hi", "", made[2].message_id)


@pytest.mark.parametrize("state", [InboxState.SKIPPED, InboxState.FAILED])
def test_messages_that_ended_otherwise_go_too(world: World, state: InboxState) -> None:
    made = [rows(world, days, state=state)[0] for days in (1, 8, 31)]
    run(world.bridge)
    assert kept(world, made) == [True, False, None]


@pytest.mark.parametrize("state", [InboxState.PENDING, InboxState.IN_TURN])
def test_what_waits_or_is_in_work_stays_however_old(world: World, state: InboxState) -> None:
    made = rows(world, 100, state=state)
    run(world.bridge)
    assert kept(world, made) == [True]


def test_how_long_is_a_setting(world: World) -> None:
    made = [rows(world, days)[0] for days in (0.5, 1.5, 2.5)]
    run(setting(world, "inbox", retention_days=1, memory_days=2).bridge)
    assert kept(world, made) == [True, False, None]


def test_messages_of_an_open_turn_stay(world: World) -> None:
    turn_id = turn(world, 40, is_open=True, state=TurnState.PARKED)
    made = rows(world, 40, turn_id=turn_id, state=InboxState.FAILED)
    run(world.bridge)
    assert kept(world, made) == [True]
    assert world.bridge.turns.get(turn_id) is not None


def test_what_a_waiting_dead_letter_refers_to_stays_until_it_is_resolved(world: World) -> None:
    turn_id = turn(world, 40, state=TurnState.DEAD)
    letter(world, turn_id, 40)
    made = rows(world, 40, turn_id=turn_id, state=InboxState.FAILED)
    run(world.bridge)
    assert kept(world, made) == [True]
    assert world.bridge.turns.get(turn_id) is not None
    assert world.bridge.dead_letters.get(turn_id) is not None
    world.bridge.dead_letters.mark_discarded(turn_id, "ann", world.bridge.clock.now())
    run(world.bridge)
    assert kept(world, made) == [None]
    assert world.bridge.turns.get(turn_id) is None
    assert world.bridge.dead_letters.get(turn_id) is None


def test_turns_go_a_month_after_they_were_closed(world: World) -> None:
    young, old = turn(world, 29), turn(world, 31)
    run(world.bridge)
    assert world.bridge.turns.get(young) is not None
    assert world.bridge.turns.get(old) is None


def test_resolved_dead_letters_go_after_a_month_and_waiting_ones_never(world: World) -> None:
    now = world.bridge.clock.now()
    young = letter(world, "young", 29, replayed_at=now)
    old = [letter(world, "replayed", 31, replayed_at=now), letter(world, "discarded", 31, discarded_at=now)]
    waiting = letter(world, "waiting", 300)
    run(world.bridge)
    assert [world.bridge.dead_letters.get(each) is not None for each in (young, waiting)] == [True, True]
    assert [world.bridge.dead_letters.get(each) for each in old] == [None, None]


def test_conversations_go_after_a_month_without_a_message_unless_something_is_unfinished(world: World) -> None:
    now = world.bridge.clock.now()
    idle, recent = conversation(world, 31, "idle"), conversation(world, 29, "recent")
    waiting = conversation(world, 31, "waiting", flush_at=now, ring_at=now)
    parked = conversation(world, 31, "parked")
    healthy.open_turn(world.bridge, chat_id=parked, state=TurnState.PARKED, ring_at=None)
    given_up = conversation(world, 31, "given-up")
    letter(world, "of given-up", 31, chat_id=given_up)
    run(world.bridge)
    assert world.bridge.conversations.get(idle) is None
    assert None not in [world.bridge.conversations.get(each) for each in (recent, waiting, parked, given_up)]


def test_a_person_who_writes_just_then_keeps_the_conversation(world: World) -> None:
    chat_id = conversation(world, 31, "back")
    world.bridge.conversations.collection.update_one({"_id": chat_id}, {"$inc": {"rev": 1}})
    world.bridge.retention.remove_conversation(chat_id, 3)
    assert world.bridge.conversations.get(chat_id) is not None


def test_a_person_who_comes_back_after_the_conversation_has_gone_is_answered(world: World) -> None:
    world.receive(world.text("hello"))
    world.make_due()
    first = world.flush()
    assert first is not None
    world.answer(first)
    world.bridge.conversations.collection.update_one({"_id": world.chat()}, {"$set": {"context_at": ago(world, 31)}})
    run(world.bridge)
    assert world.bridge.conversations.get(world.chat()) is None
    world.receive(world.text("again"))
    world.make_due()
    second = world.flush()
    assert second is not None
    world.answer(second)
    assert world.delivered() == ["hello", "again"]


# bounded


def test_a_pass_is_bounded_and_a_backlog_is_worked_off_by_many(world: World) -> None:
    made = rows(world, 31, 3 * MOST)
    retention, before = Retention(), len(made)
    for _ in range(MOST_PASSES):
        is_more = retention.go_on(world.bridge)
        left = world.bridge.inbox.collection.count_documents({})
        assert before - left <= 10 * MOST
        before = left
        if not is_more:
            break
    assert kept(world, made[:1] + made[-1:]) == [None, None]
    assert before == 0


def test_a_window_too_much_for_the_ledger_is_tried_again_in_parts(world: World) -> None:
    made = rows(world, 31)
    asked: list[timedelta] = []
    bridge = world.bridge

    def remember(real: Callable[[datetime, datetime], object]) -> Callable[[datetime, datetime], object]:
        def call(since: datetime, until: datetime) -> object:
            asked.append(until - since)
            return real(since, until)

        return call

    away = failing(world, "retention", "rows", LedgerUnavailable("timeout"))  # once
    retention = Retention()
    object.__setattr__(away.bridge.retention, "rows", remember(away.bridge.retention.rows))
    with pytest.raises(LedgerUnavailable):
        retention.go_on(away.bridge)
    while retention.go_on(away.bridge):
        pass
    assert asked[1] < asked[0]
    assert kept(world, made) == [None]
    assert bridge.inbox.count_waiting() == 0


def test_after_a_round_it_rests(world: World) -> None:
    retention = Retention()
    while retention.go_on(world.bridge):
        pass
    made = rows(world, 31)
    assert retention.go_on(world.bridge) is False
    assert kept(world, made) == [True]


def test_the_sweep_does_it(world: World) -> None:
    made = rows(world, 8)
    sweeper = Sweeper()
    for _ in range(MOST_PASSES):
        sweeper.sweep(world.bridge)
        if kept(world, made) == [False]:
            break
    assert kept(world, made) == [False]


def test_two_that_do_it_at_once_do_no_harm(world: World) -> None:
    made = rows(world, 8, 5) + rows(world, 31, 5)
    first, second = Retention(), Retention()
    while first.go_on(world.bridge) | second.go_on(world.bridge):
        pass
    assert kept(world, made) == [False] * 5 + [None] * 5
