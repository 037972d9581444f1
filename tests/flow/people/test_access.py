"""Who may not talk is refused before anything happens for them, with a reason in the ledger, and told at most once."""

from __future__ import annotations

import pytest
from prometheus_client import REGISTRY

from tests.flow.delivering import queued
from tests.flow.people.admitting import OPERATOR, age, is_refused, notice, person, told, under, wrote
from tests.support.doorbells import taken
from tests.support.variations import engine, failing
from tests.support.world import World
from wechat_bridge.errors import AccessRefused, LedgerUnavailable
from wechat_bridge.flow import turns
from wechat_bridge.flow.people import access_admin as admin
from wechat_bridge.flow.people.access import CODE_TEXT
from wechat_bridge.model import access, keys
from wechat_bridge.model.access import Policy, Reason, Standing
from wechat_bridge.model.message import InboxState, Item, ItemKind
from wechat_bridge.model.turn import Lane, TurnState

# policies


def test_a_channel_that_nobody_gave_a_policy_answers_everybody(world: World) -> None:
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$unset": {"access": ""}})
    assert world.answer(queued(world)).state is TurnState.SENT
    assert world.channel.access.policy is Policy.OPEN


def test_a_channel_removed_while_messages_wait_gives_them_their_turn(world: World) -> None:
    world.receive(world.text("hello"))
    world.bridge.channels.collection.delete_one({"_id": world.share_id})
    world.make_due()
    assert world.flush() is not None


def test_somebody_not_on_the_list_hears_nothing_and_costs_no_call(world: World) -> None:
    asking, scripted = engine(under(world, Policy.ALLOWLIST), "the engine's answer")
    picture = world.text("", items=(Item(kind=ItemKind.IMAGE),))
    world.receive(picture)
    (message,) = wrote(asking, "hello")
    assert is_refused(world, message, Reason.NOT_LISTED)
    assert is_refused(world, picture, Reason.NOT_LISTED)
    assert (scripted.asked, notice(world), taken(world, "reply"), world.delivered()) == ([], None, [], [])


def test_who_is_let_in_is_answered_even_before_they_ever_wrote(world: World) -> None:
    admin.allow(under(world, Policy.ALLOWLIST).bridge, world.share_id, world.user(), OPERATOR)
    world.answer(queued(world))
    assert world.delivered() == ["hello"]
    assert person(world).by == OPERATOR
    admin.forget(world.bridge, world.share_id, world.user(), OPERATOR)
    (message,) = wrote(world, "and now?")
    assert is_refused(world, message, Reason.NOT_LISTED)


@pytest.mark.parametrize("policy", [Policy.ALLOWLIST, Policy.PAIRING])
def test_who_scanned_the_code_is_in(world: World, policy: Policy) -> None:
    under(world, policy)
    message = world.text("hello", user_id=str(world.channel.owner_user_id))
    world.receive(message)
    chat = keys.chat_id(world.share_id, message.user_id)
    world.bridge.conversations.collection.update_one({"_id": chat}, {"$set": {"flush_at": world.bridge.clock.now()}})
    turns.flush_conversation(world.bridge, chat)
    assert world.bridge.turns.open_of(chat) is not None


def test_a_channel_that_answers_nobody_keeps_what_they_write(world: World) -> None:
    under(world, Policy.DISABLED)
    admin.allow(world.bridge, world.share_id, world.user(), OPERATOR)
    (message,) = wrote(world, "hello")
    assert is_refused(world, message, Reason.DISABLED)
    row = world.bridge.inbox.get(f"{world.share_id}:{message.message_id}")
    assert row is not None
    assert (row.items[0].text, row.state) == ("hello", InboxState.SKIPPED)


def test_who_is_denied_is_answered_no_command_and_their_question_in_work_is_dropped(world: World) -> None:
    turn = queued(world, "a question")
    admin.deny(world.bridge, world.share_id, world.user(), OPERATOR)
    assert (world.turn(turn.id).state, world.turn(turn.id).error) == (TurnState.SKIPPED, Reason.DENIED.value)
    (message,) = wrote(world, "/help")
    assert is_refused(world, message, Reason.DENIED)
    assert world.bridge.turns.open_of(world.chat(), Lane.COMMAND) is None
    assert world.delivered() == []


def test_refused_messages_are_counted_by_channel_and_reason(world: World) -> None:
    wrote(under(world, Policy.ALLOWLIST), "hello", "hello?")
    counted = REGISTRY.get_sample_value(
        "wechat_bridge_messages_refused_total", {"channel": world.share_id, "reason": "not_listed"}
    )
    assert counted == 2


def test_somebody_is_refused_while_somebody_else_is_answered(world: World) -> None:
    admin.deny(world.bridge, world.share_id, world.user("bob"), OPERATOR)
    wrote(world, "let me in", name="bob")
    world.answer(queued(world))
    assert (world.delivered(), world.delivered("bob")) == (["hello"], [])


# pairing


def test_a_stranger_gets_one_code_and_after_its_approval_the_next_message_is_answered(world: World) -> None:
    asking, scripted = engine(under(world, Policy.PAIRING), "welcome")
    (first,) = wrote(asking, "hello")
    assert is_refused(world, first, Reason.NOT_PAIRED)
    code = person(world).code
    assert told(asking) == CODE_TEXT.format(code=code)
    (second,) = wrote(asking, "hello?")
    assert is_refused(world, second, Reason.NOT_PAIRED)
    assert notice(world) is None, "one code an hour"
    assert admin.approve(world.bridge, world.share_id, f" {code.lower()} ", OPERATOR) == world.user()
    assert told(asking) == admin.APPROVED_TEXT
    assert (person(world).standing, person(world).by, person(world).code) == (Standing.PAIRED, OPERATOR, "")
    asking.answer(queued(asking, "and now?"))
    assert [each.text for each in scripted.asked] == ["and now?"]
    assert world.delivered()[-1] == "welcome"
    assert world.row_state(first)[0] == "skipped"


def test_a_code_is_spent_once_and_holds_for_an_hour(world: World) -> None:
    under(world, Policy.PAIRING)
    wrote(world, "hello")
    told(world)
    code = person(world).code
    age(world, 3601)
    with pytest.raises(AccessRefused, match="a code holds for an hour"):
        admin.approve(world.bridge, world.share_id, code, OPERATOR)
    wrote(world, "hello again")
    fresh = person(world).code
    assert fresh != code
    assert told(world) == CODE_TEXT.format(code=fresh)
    admin.approve(world.bridge, world.share_id, fresh, OPERATOR)
    for wrong in (fresh, "", "ABCDEFGH"):
        with pytest.raises(AccessRefused, match="no such code waits"):
            admin.approve(world.bridge, world.share_id, wrong, OPERATOR)


def test_a_code_lets_nobody_into_another_channel_or_under_another_policy(world: World) -> None:
    under(world, Policy.PAIRING)
    wrote(world, "hello")
    other = under(World.create(world.wired, world.control, "http://127.0.0.1:1"), Policy.PAIRING)
    with pytest.raises(AccessRefused, match="no such code waits"):
        admin.approve(world.bridge, other.share_id, person(world).code, OPERATOR)
    under(world, Policy.ALLOWLIST)
    with pytest.raises(AccessRefused, match="codes count for pairing only"):
        admin.approve(world.bridge, world.share_id, person(world).code, OPERATOR)


def test_of_many_strangers_three_get_a_code_and_the_others_nothing(world: World) -> None:
    under(world, Policy.PAIRING)
    names = [f"stranger{number}" for number in range(access.MOST_CODES + 2)]
    refused = [wrote(world, "hello", name=name)[0] for name in names]
    assert [notice(world, name) is not None for name in names] == [True] * 3 + [False] * 2
    assert all(is_refused(world, message, Reason.NOT_PAIRED) for message in refused)
    assert len(admin.overview(world.bridge, world.share_id)["persons"]) == 3
    admin.approve(world.bridge, world.share_id, person(world, names[0]).code, OPERATOR)
    wrote(world, "hello again", name=names[4])
    assert notice(world, names[4]) is not None, "one that is spent makes room for another"


def test_a_code_counts_for_no_notice_that_the_operator_may_send(world: World) -> None:
    under(world, Policy.PAIRING)
    wrote(world, "hello")
    assert world.bridge.turns.count_notices(world.share_id, world.bridge.clock.after(-60)) == 0


@pytest.mark.parametrize("part", [("access", "settle"), ("turns", "open"), ("inbox", "skip"), ("access", "gate")])
def test_a_ledger_that_fails_halfway_lets_no_stranger_in_and_tells_them_once(
    world: World, part: tuple[str, str]
) -> None:
    under(world, Policy.PAIRING)
    message = world.text("hello")
    world.receive(message)
    world.make_due()
    with pytest.raises(LedgerUnavailable):
        turns.flush_conversation(failing(world, *part, LedgerUnavailable("away")).bridge, world.chat())
    assert world.row_state(message)[0] == "pending"
    turns.flush_conversation(world.bridge, world.chat())
    assert is_refused(world, message, Reason.NOT_PAIRED)
    assert told(world) == CODE_TEXT.format(code=person(world).code)
    wrote(world, "hello?")
    assert notice(world) is None


def test_two_that_refuse_the_same_message_tell_its_person_one_code_that_holds(world: World) -> None:
    under(world, Policy.PAIRING)
    world.receive(world.text("hello"))
    world.make_due()
    conversation = world.bridge.conversations.get(world.chat())
    assert conversation is not None
    first = world.bridge.access.settle(conversation, 1, {}, "AAAAAAAA", world.bridge.clock.now())
    second = world.bridge.access.settle(conversation, 1, {}, "BBBBBBBB", world.bridge.clock.now())
    assert (first, second, person(world).code) == (True, False, "AAAAAAAA")
