"""Two workers refuse at once, or one dies on the way: each message ends once, and its person is told once."""

from __future__ import annotations

import pytest

from tests.flow.test_interleavings import Case, nothing, orders
from tests.support.mortal import Death, Lives
from tests.support.world import World
from wechat_bridge.flow.people import access_admin as admin
from wechat_bridge.flow.people.access import CODE_TEXT
from wechat_bridge.model.access import Person, Policy, Reason
from wechat_bridge.simulators.ilink import IlinkSimulator
from wechat_bridge.wiring import Wired

pytestmark = pytest.mark.slow

OPERATOR = "operator@host"


def check(case: Case, *states: tuple[str, str]) -> None:
    """The messages ended so, nothing waits, and no question is open."""
    found = [case.world.row_state(message) for message in case.received]
    assert found == list(states), case.order
    conversation = case.world.bridge.conversations.get(case.chat)
    assert conversation is not None
    assert (conversation.flush_at, conversation.blocked) == (None, False), case.order
    assert case.world.bridge.turns.open_of(case.chat) is None, case.order


def person(world: World, chat_id: str) -> Person:
    found = world.bridge.conversations.get(chat_id)
    assert found is not None
    return found.access


def make_room(world: World, chat_id: str) -> None:
    """Let the code of a case that is over wait no longer."""
    world.bridge.conversations.collection.delete_one({"_id": chat_id})


def test_two_doorbells_for_the_messages_of_a_stranger_tell_one_code_that_holds(world: World) -> None:
    played = list(orders(world))
    admin.set_policy(world.bridge, world.share_id, Policy.PAIRING, OPERATOR)
    for order in played:
        case = Case(world, order)
        case.receive("m1", "m2")
        case.ring("flush", case.chat)
        case.lockstep.run(nothing, nothing)
        check(case, *[("skipped", Reason.NOT_PAIRED.value)] * 2)
        assert case.door.texts == [CODE_TEXT.format(code=person(world, case.chat).code)], order
        make_room(world, case.chat)


def test_a_stranger_who_writes_again_at_any_moment_is_told_one_code(world: World) -> None:
    played = list(orders(world))
    admin.set_policy(world.bridge, world.share_id, Policy.PAIRING, OPERATOR)
    for order in played:
        case = Case(world, order)
        case.receive("m1")
        case.lockstep.run(nothing, lambda case=case: case.receive("m2"))  # type: ignore[misc]
        check(case, *[("skipped", Reason.NOT_PAIRED.value)] * 2)
        assert case.door.texts == [CODE_TEXT.format(code=person(world, case.chat).code)], order
        make_room(world, case.chat)


def test_a_message_too_many_at_any_moment_is_refused_and_no_other(world: World) -> None:
    played = list(orders(world))
    admin.set_limits(world.bridge, world.share_id, 1, None, OPERATOR)
    for order in played:
        case = Case(world, order)
        case.receive("m1")
        case.ring("flush", case.chat)
        case.lockstep.run(nothing, lambda case=case: case.receive("m2"))  # type: ignore[misc]
        check(case, ("done", ""), ("skipped", Reason.RATE.value))
        answers = [text for text in case.door.texts if "too fast" not in text]
        assert (answers, len(case.door.texts)) == (["m1"], 2), order


def test_a_human_who_takes_over_at_any_moment_leaves_nothing_waiting(world: World) -> None:
    played = list(orders(world))
    for order in played:
        case = Case(world, order)
        case.receive("m1")
        user_id = world.user(case.name)
        case.lockstep.run(
            nothing,
            lambda case=case, user_id=user_id: admin.set_human(  # type: ignore[misc]
                case.world.bridge, world.share_id, user_id, True, OPERATOR
            ),
        )
        (state,) = [case.world.row_state(message) for message in case.received]
        assert state in (("done", ""), ("done", Reason.HUMAN.value), ("skipped", Reason.HUMAN.value)), order
        check(case, state)


@pytest.mark.slow
@pytest.mark.long
def test_a_stranger_is_refused_and_told_wherever_the_process_dies(wired: Wired, simulator: IlinkSimulator) -> None:
    """To be killed before a call leaves the same as to be killed after the one before it."""
    number, calls = 0, [""]
    while number < len(calls):
        world = World.create(wired, simulator.control, simulator.base_url)
        admin.set_policy(world.bridge, world.share_id, Policy.PAIRING, OPERATOR)
        simulator.control.set_options(world.bot_id, hold_seconds=0.02, cursor="redeliver", dedupe_client_id=True)
        simulator.control.say(world.bot_id, world.user(), "hello")
        case = Lives(world, Death(number))
        case.live_and_die()
        if number:
            case.go_on()
        else:
            calls += case.death.calls
        point = f"after {calls[number]} (call {number})"
        assert world.delivered() == [CODE_TEXT.format(code=person(world, world.chat()).code)], point
        rows = list(world.bridge.inbox.collection.find({"share_id": world.share_id}))
        assert [(row["state"], row["reason"]) for row in rows] == [("skipped", Reason.NOT_PAIRED.value)], point
        world.bridge.channels.collection.delete_one({"_id": world.share_id})
        number += 1
    assert "access.settle 1" in calls
