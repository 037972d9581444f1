"""A dead letter of somebody who has been refused since is not replayed unless the operator insists (acceptance J3)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flow.dead_letters.test_replay import dead, dead_in_delivery, letter_of
from tests.flow.people.admitting import OPERATOR, told, under, wrote
from tests.support.doorbells import taken
from tests.support.variations import failing
from tests.support.world import World
from wechat_bridge.errors import LedgerUnavailable, ReplayRefused
from wechat_bridge.flow.dead_letters import replay
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.people import access_admin as admin
from wechat_bridge.model.access import Policy
from wechat_bridge.model.turn import Lane, Turn, TurnState

BY = "ann@ops"


def refuse(world: World, how: str) -> None:
    """Let ann be refused from now on."""
    share_id, ann = world.share_id, world.user()
    if how in list(Policy):
        admin.set_policy(world.bridge, share_id, Policy(how), OPERATOR)
    elif how == "deny":
        admin.deny(world.bridge, share_id, ann, OPERATOR)
    elif how == "mute":
        admin.set_muted(world.bridge, share_id, ann, True, OPERATOR)
    else:
        admin.set_human(world.bridge, share_id, ann, True, OPERATOR)


REFUSALS = [
    ("deny", "the person is denied", "access allow {share_id} {user}"),
    ("disabled", "the channel answers nobody", "access policy {share_id} POLICY"),
    ("allowlist", "the person is not on the list", "access allow {share_id} {user}"),
    ("pairing", "the person is not paired", "access allow {share_id} {user}"),
    ("mute", "the conversation is muted", "access unmute {share_id} {user}"),
    ("human", "a human answers", "access bot {share_id} {user}"),
]


@pytest.mark.parametrize(("how", "reason", "way"), REFUSALS)
def test_a_turn_of_somebody_who_is_not_answered_any_more_is_replayed_only_by_force(
    world: World, how: str, reason: str, way: str
) -> None:
    turn = dead(world, world.text("hello"))
    taken(world, "reply")
    refuse(world, how)
    attempts: list[Callable[[], str]] = [
        lambda: replay.look(world.bridge, turn.id),
        lambda: replay.replay(world.bridge, turn.id, BY),
    ]
    for act in attempts:
        with pytest.raises(ReplayRefused) as caught:
            act()
        assert reason in str(caught.value)
        assert f"wechat-bridge {way.format(share_id=world.share_id, user=world.user())};" in str(caught.value)
        assert f"wechat-bridge dead replay {turn.id} --force" in str(caught.value)
    assert (world.turn(turn.id).state, letter_of(world, turn).waits) == (TurnState.DEAD, True)
    assert taken(world, "reply") == []
    assert replay.look(world.bridge, turn.id, force=True) == "the engine is asked again"
    replay.replay(world.bridge, turn.id, BY, force=True)
    assert world.answer(turn).state is TurnState.SENT
    assert world.delivered()[-1] == "hello"


def test_what_is_answered_already_is_not_sent_on_to_somebody_denied_since(world: World) -> None:
    turn, _ = dead_in_delivery(world, world.text("hello"))
    refuse(world, "deny")
    with pytest.raises(ReplayRefused, match="denied"):
        replay.replay(world.bridge, turn.id, BY)
    assert taken(world, "deliver")[1:] == []


def test_who_is_let_in_again_is_answered_without_force(world: World) -> None:
    turn = dead(world, world.text("hello"))
    refuse(world, "deny")
    admin.allow(world.bridge, world.share_id, world.user(), OPERATOR)
    replay.replay(world.bridge, turn.id, BY)
    assert world.answer(turn).state is TurnState.SENT


def test_a_ledger_that_cannot_tell_lets_nobody_in(world: World) -> None:
    turn = dead(world, world.text("hello"))
    blind = failing(world, "access", "gate", LedgerUnavailable("away"))
    with pytest.raises(LedgerUnavailable):
        replay.replay(blind.bridge, turn.id, BY)
    assert world.turn(turn.id).state is TurnState.DEAD


def test_a_command_is_tried_again_while_a_human_answers_and_a_code_for_a_stranger_always(world: World) -> None:
    command = given_up(world, wrote_one(world, "/help", Lane.COMMAND))
    refuse(world, "human")
    assert replay.look(world.bridge, command.id)
    admin.set_human(world.bridge, world.share_id, world.user(), False, OPERATOR)
    code = given_up(under(world, Policy.PAIRING), wrote_one(world, "let me in", Lane.NOTICE))
    replay.replay(world.bridge, code.id, BY)
    assert "配对码" in told(world)


def wrote_one(world: World, text: str, lane: Lane) -> Turn:
    """The turn that somebody's words made."""
    wrote(world, text)
    turn = world.bridge.turns.open_of(world.chat(), lane)
    assert turn is not None
    return turn


def given_up(world: World, turn: Turn) -> Turn:
    """The turn as if its worker had given it up."""
    changes = {"state": "dead", "error": "x", "error_class": "ValueError"}
    world.bridge.turns.collection.update_one({"_id": turn.id}, {"$set": changes})
    record_dead_letter(world.bridge, turn.id)
    assert not world.turn(turn.id).open
    return world.turn(turn.id)
