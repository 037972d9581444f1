"""How much one person may write: the newest of too many messages are refused, and their person told once a window."""

from __future__ import annotations

from typing import Any

from tests.flow.delivering import queued
from tests.flow.people.admitting import OPERATOR, age, is_refused, notice, told, wrote
from tests.support.variations import ScriptedEngine, engine, failing, setting, wrapping
from tests.support.world import World
from wechat_bridge.flow import turns
from wechat_bridge.flow.people import access_admin as admin
from wechat_bridge.model.access import Policy, Reason
from wechat_bridge.model.conversation import Conversation
from wechat_bridge.model.turn import Lane


def limited(world: World, per_minute: int | None = None, per_day: int | None = None) -> tuple[World, ScriptedEngine]:
    """The channel with limits, and an engine that remembers what it was asked."""
    admin.set_limits(world.bridge, world.share_id, per_minute, per_day, OPERATOR)
    return engine(world, "yes")


def test_who_writes_too_fast_is_told_once_and_the_newest_messages_are_refused(world: World) -> None:
    asking, scripted = limited(world, per_minute=2)
    first, second, third = wrote(asking, "m1", "m2", "m3")
    assert world.row_state(third) == ("skipped", Reason.RATE.value)
    turn = world.bridge.turns.open_of(world.chat())
    assert turn is not None
    asking.answer(turn)
    assert [each.text for each in scripted.asked] == ["m1\nm2"]
    assert [world.row_state(each)[0] for each in (first, second)] == ["done", "done"]
    said = told(asking)
    assert said.startswith("消息太快了")
    assert "That was too fast" in said
    (fourth,) = wrote(asking, "m4")
    assert is_refused(world, fourth, Reason.RATE)
    assert notice(world) is None
    age(world, 61)
    asking.answer(queued(asking, "m5"))
    assert scripted.asked[-1].text == "m5"


def test_flushing_again_refuses_no_message_that_was_let_in(world: World) -> None:
    asking, _ = limited(world, per_minute=2)
    busy = queued(asking, "m1")
    second, third = wrote(asking, "m2", "m3")
    for _ in range(3):
        turns.flush_conversation(world.bridge, world.chat())
    assert world.row_state(third) == ("skipped", Reason.RATE.value)
    assert world.row_state(second)[0] == "pending"
    asking.answer(busy)
    assert world.flush() is not None


def test_the_quota_of_a_day_ends_with_one_word_of_when_it_goes_on_and_commands_still_work(world: World) -> None:
    asking, scripted = limited(world, per_day=1)
    asking.answer(queued(asking, "m1"))
    (second,) = wrote(asking, "m2")
    assert is_refused(world, second, Reason.QUOTA)
    assert told(asking).endswith("you can write again in 24 h.")
    wrote(asking, "m3")
    assert notice(world) is None
    wrote(asking, "/status")
    assert world.bridge.turns.open_of(world.chat(), Lane.COMMAND) is not None
    age(world, 24 * 3600)
    asking.answer(queued(asking, "m4"))
    assert [each.text for each in scripted.asked] == ["m1", "m4"]


def test_what_one_person_writes_counts_for_nobody_else(world: World) -> None:
    asking, scripted = limited(world, per_minute=1, per_day=1)
    for name in ("ann", "bob"):
        asking.answer(queued(asking, f"I am {name}", name))
    assert [each.text for each in scripted.asked] == ["I am ann", "I am bob"]


def test_what_was_refused_for_another_reason_uses_up_nothing(world: World) -> None:
    asking, scripted = limited(world, per_day=1)
    admin.allow(world.bridge, world.share_id, world.user(), OPERATOR)
    admin.set_policy(world.bridge, world.share_id, Policy.DISABLED, OPERATOR)
    wrote(asking, "m1", "m2")
    admin.set_policy(world.bridge, world.share_id, Policy.OPEN, OPERATOR)
    asking.answer(queued(asking, "m3"))
    assert [each.text for each in scripted.asked] == ["m3"]


def test_a_message_that_arrives_while_others_are_refused_is_looked_at_next(world: World) -> None:
    asking, _ = limited(world, per_minute=1)
    world.receive(world.text("m1"), world.text("m2"))
    world.make_due()
    late, settle = world.text("m3"), world.bridge.access.settle

    def arrive_meanwhile(*given: Any) -> bool:
        world.receive(late)
        return settle(*given)

    turns.flush_conversation(wrapping(asking, "access", "settle", arrive_meanwhile).bridge, world.chat())
    assert world.row_state(late)[0] == "pending"
    turns.flush_conversation(world.bridge, world.chat())
    world.make_due()
    turns.flush_conversation(world.bridge, world.chat())
    assert world.row_state(late) == ("skipped", Reason.RATE.value)


def test_somebody_let_in_costs_no_write_and_one_small_read(world: World) -> None:
    admin.set_policy(world.bridge, world.share_id, Policy.PAIRING, OPERATOR)
    admin.set_limits(world.bridge, world.share_id, 5, 5, OPERATOR)
    admin.allow(world.bridge, world.share_id, world.user(), OPERATOR)
    world.receive(world.text("hello"))
    before = _stored(world)
    gates, gate = [], world.bridge.access.gate

    def count(share_id: str) -> object:
        gates.append(share_id)
        return gate(share_id)

    counted = wrapping(world, "access", "gate", count)
    for name in ("settle", "waiting_codes"):
        counted = failing(counted, "access", name, AssertionError(name))
    world.make_due()
    assert counted.flush() is not None
    assert gates == [world.share_id]
    after = _stored(world)
    assert (after.usage, after.access) == (before.usage, before.access)
    assert (after.minute_count, after.day_count) == (1, 1)


def _stored(world: World) -> Conversation:
    found = world.bridge.conversations.get(world.chat())
    assert found is not None
    return found


def test_a_limit_for_all_channels_holds_on_those_that_have_none_of_their_own(world: World) -> None:
    common = setting(world, "access", messages_per_minute=2)
    third = wrote(common, "m1", "m2", "m3")[2]
    assert world.row_state(third) == ("skipped", Reason.RATE.value)
    admin.set_limits(world.bridge, world.share_id, 5, None, OPERATOR)
    assert [world.row_state(each)[0] for each in wrote(common, "a", "b", "c", name="bob")] == ["pending"] * 3
    (fourth,) = wrote(setting(world, "access", messages_per_day=3), "d", name="bob")
    assert world.row_state(fourth) == ("skipped", Reason.QUOTA.value), "by the day the channel has none of its own"
