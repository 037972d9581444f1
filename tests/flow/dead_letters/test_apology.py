"""What a person reads when their turn is given up: a fixed sentence, once, and nothing of what went wrong."""

from __future__ import annotations

import pytest

from tests.flow.delivering import calm, generated, queued, send
from tests.support.together import together
from tests.support.variations import door, engine, setting
from tests.support.world import World
from wechat_bridge.errors import (
    BridgeError,
    EngineRefused,
    LedgerUnavailable,
    PlatformUnavailable,
    SendRefused,
    SessionExpired,
)
from wechat_bridge.flow import reply
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.model import keys
from wechat_bridge.model.turn import Turn, TurnState

APOLOGY = "抱歉，暂时无法回复，请稍后再试。"


def given_up(world: World) -> tuple[World, Turn]:
    """A turn of ann whose engine said no, not recorded yet."""
    refusing, _ = engine(world, EngineRefused("key sk-12345 is wrong"))
    turn = queued(refusing)
    reply.generate_reply(refusing.bridge, turn.id)
    assert world.turn(turn.id).state is TurnState.DEAD
    return refusing, turn


def test_the_person_is_told_once_however_often_the_letter_is_recorded(world: World) -> None:
    _, turn = given_up(world)
    for _ in range(3):
        record_dead_letter(world.bridge, turn.id)
    assert world.delivered() == [APOLOGY]
    assert world.control.sends(world.bot_id)[0]["client_id"] == keys.client_id(turn.id, -1)
    assert not world.turn(turn.id).open


def test_ten_workers_at_once_tell_the_person_once(world: World) -> None:
    _, turn = given_up(world)
    together(10, lambda _: record_dead_letter(world.bridge, turn.id))
    assert world.delivered() == [APOLOGY]


def test_another_sentence_or_none_may_be_set(world: World) -> None:
    _, turn = given_up(world)
    record_dead_letter(setting(world, "reply", apology="Sorry.").bridge, turn.id)
    assert world.delivered() == ["Sorry."]
    _, turn = given_up(world)
    record_dead_letter(setting(world, "reply", apology="").bridge, turn.id)
    assert world.delivered() == ["Sorry."]


@pytest.mark.parametrize(
    "error",
    [SendRefused(-2, ""), SessionExpired("-14"), PlatformUnavailable("cut"), LedgerUnavailable("away")],
    ids=lambda error: type(error).__name__,
)
def test_an_apology_that_cannot_be_sent_is_not_tried_again_and_the_turn_ends(world: World, error: BridgeError) -> None:
    _, turn = given_up(world)
    refusing, own = door(world, error)
    record_dead_letter(refusing.bridge, turn.id)
    record_dead_letter(world.bridge, turn.id)
    assert own.texts == [APOLOGY]
    assert world.delivered() == []
    assert not world.turn(turn.id).open


def test_without_a_send_left_nobody_is_told_and_the_turn_ends(world: World) -> None:
    _, turn = given_up(world)
    world.bridge.conversations.collection.update_one({"_id": world.chat()}, {"$set": {"sends_left": 0}})
    record_dead_letter(world.bridge, turn.id)
    assert world.control.sends(world.bot_id) == []
    assert not world.turn(turn.id).open


def test_credentials_that_no_key_opens_do_not_keep_the_turn_from_ending(world: World) -> None:
    _, turn = given_up(world)
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": {"sealed_account": "garbage"}})
    record_dead_letter(world.bridge, turn.id)
    assert not world.turn(turn.id).open
    assert world.bridge.dead_letters.get(turn.id) is not None


def test_what_waited_behind_a_given_up_turn_is_answered(world: World) -> None:
    _, turn = given_up(world)
    world.receive(world.text("second"))
    world.make_due()
    world.flush()
    record_dead_letter(world.bridge, turn.id)
    following = world.flush()
    assert following is not None
    world.answer(following)
    assert world.delivered() == [APOLOGY, "second"]


@pytest.mark.parametrize(
    ("error", "said"), [(PlatformUnavailable("cut"), [APOLOGY]), (SendRefused(-2, "prepare failed"), [])], ids=str
)
def test_a_reply_that_could_not_be_sent_is_apologised_for_unless_wechat_refused_it(
    world: World, error: BridgeError, said: list[str]
) -> None:
    failing, _ = door(setting(world, "reply", max_retries=0, most_releases=1), *[error] * 9)
    turn = generated(failing)
    send(failing, turn)
    if isinstance(error, SendRefused):
        calm(world)
        failing.receive(world.text("once more"))
        failing.make_due()
        failing.flush()
        send(failing, turn)
    assert (world.turn(turn.id).state, world.turn(turn.id).failed_stage) == (TurnState.DEAD, "deliver")
    record_dead_letter(world.bridge, turn.id)
    assert world.delivered() == said
