"""Sends that WeChat refuses or pauses: kept, visible, and sent by themselves as soon as WeChat allows."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.flow.delivering import calm, generated, send, sends_left, with_chunks
from tests.support.doorbells import taken
from tests.support.variations import OwnDoor, door, setting, using
from tests.support.world import World
from wechat_bridge.errors import (
    BridgeError,
    NotConfigured,
    PlatformBusy,
    PlatformUnavailable,
    SendRefused,
    SessionExpired,
)
from wechat_bridge.flow import reply
from wechat_bridge.flow.login.logged_in import complete_login
from wechat_bridge.model.channel import Account, Login
from wechat_bridge.model.outcome import Done, GiveUp, Park, RetryIn
from wechat_bridge.model.turn import TurnState


def test_a_newer_message_releases_a_refused_reply_and_is_answered_after_it(world: World) -> None:
    refusing, own = door(world, *[SendRefused(-2, "prepare failed")] * 2)
    turn = generated(refusing, "first")
    send(refusing, turn)
    calm(world)
    newer = world.text("second")
    world.receive(newer)
    world.make_due()
    world.flush()
    assert [each.args for each in taken(world, "deliver")][-1] == [turn.id]
    assert world.answer(turn).state is TurnState.SENT
    following = world.flush()
    assert following is not None
    world.answer(following)
    assert world.delivered() == ["first", "second"]
    assert {row["context_token"] for row in world.control.sends(world.bot_id)} == {newer.context_token}
    assert len(own.sent) == 2


def test_a_refused_reply_is_not_released_twice_by_one_message(world: World) -> None:
    """WeChat lengthens its pause with every attempt."""
    refusing, own = door(world, *[SendRefused(-2, "prepare failed")] * 9)
    turn = generated(refusing, "first")
    send(refusing, turn)
    refusing.receive(world.text("second"))
    for _ in range(4):
        calm(world)
        refusing.make_due()
        refusing.flush()
        send(refusing, turn)
    assert len(own.sent) == 2 + 1
    assert world.turn(turn.id).state is TurnState.PARKED


def test_a_reply_refused_again_after_three_newer_messages_is_given_up(world: World) -> None:
    refusing, own = door(world, *[SendRefused(-2, "prepare failed")] * 9)
    turn = generated(refusing, "first")
    outcomes = [send(refusing, turn)]
    for number in range(3):
        calm(world)
        refusing.receive(world.text(f"more {number}"))
        refusing.make_due()
        refusing.flush()
        outcomes.append(send(refusing, turn))
    assert outcomes[:3] == [Park("send_refused")] * 3
    assert outcomes[3] == GiveUp("send_refused: refused again after 3 releases")
    assert len(own.sent) == 2 + 3
    assert world.turn(turn.id).failed_stage == "deliver"


def test_the_end_of_the_session_parks_the_reply_and_asks_for_a_login(world: World) -> None:
    turn = generated(world)
    world.control.expire_token(world.bot_id)
    assert send(world, turn) == Park("login_needed")
    assert world.channel.status_reason == "login_needed"
    assert len(world.control.sends(world.bot_id)) == 0


def test_a_reply_that_waits_for_a_login_is_not_released_by_a_message_and_never_given_up(world: World) -> None:
    turn = generated(world)
    world.control.expire_token(world.bot_id)
    send(world, turn)
    for number in range(5):
        world.receive(world.text(f"more {number}"))
        world.make_due()
        world.flush()
        send(world, turn)
    parked = world.turn(turn.id)
    assert (parked.state, parked.releases) == (TurnState.PARKED, 0)


def test_a_login_in_the_moment_of_the_refusal_lets_the_reply_go_out_by_itself(world: World) -> None:
    turn = generated(world)
    bot = world.control.create_bot()
    world.control.set_options(bot["bot_id"], check_context_token=False)

    class Relogged(OwnDoor):
        """Is told -14 for the old login while the new one is being made."""

        def send_text(self, *args: object) -> str | None:
            """Log in, then fail for the old login."""
            account = Account(token=bot["token"], account_id=bot["bot_id"], base_url=world.control.base_url)
            complete_login(world.bridge, world.share_id, Login(account=account, owner_user_id=bot["user_id"]))
            raise SessionExpired("-14")

    send(using(world, doors=dict.fromkeys(world.bridge.doors, Relogged())), turn)
    assert world.channel.status == "online"
    assert world.turn(turn.id).state is TurnState.GENERATED
    send(world, turn)
    assert world.delivered() == ["hello"]
    assert world.control.sends(bot["bot_id"])[0]["context_token"] == ""  # that of the old login is not sent


def test_a_channel_that_asks_for_a_pause_gets_it_from_every_worker(world: World) -> None:
    busy, own = door(world, PlatformBusy("-13", retry_after_seconds=60.0))
    first = generated(busy)
    world.receive(world.text("from bob", name="bob"))
    world.make_due("bob")
    second = world.flush("bob")
    assert second is not None
    reply.generate_reply(world.bridge, second.id)
    outcome = send(busy, first)
    assert isinstance(outcome, RetryIn)
    assert outcome.seconds >= 60
    blocked = send(busy, second)
    assert isinstance(blocked, RetryIn)
    assert 55 <= blocked.seconds <= 60
    assert len(own.sent) == 1
    waiting = world.turn(second.id)
    assert (waiting.state, waiting.deliver_attempts) == (TurnState.GENERATED, 0)  # not its fault
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": {"send_blocked_until": None}})
    assert [send(busy, first), send(busy, second)] == [Done(), Done()]
    assert own.texts == ["hello", "hello", "from bob"]


def test_a_short_pause_is_waited_for(world: World) -> None:
    soon = world.bridge.clock.after(0.1)
    world.bridge.channels.block_sends(world.share_id, world.channel.epoch, soon)
    assert world.answer(generated(world)).state is TurnState.SENT
    assert world.control.sends(world.bot_id)[0]["at"] >= soon.timestamp() - 0.05


def test_an_error_that_will_come_again_gives_the_reply_up(world: World) -> None:
    turn = generated(world)
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": {"sealed_account": "garbage"}})
    outcome = send(world, turn)
    assert isinstance(outcome, GiveUp)
    assert world.turn(turn.id).error_class == NotConfigured.__name__


@pytest.mark.parametrize("error", [SendRefused(-2, "x"), PlatformUnavailable("x")], ids=lambda error: str(error)[:9])
def test_no_token_is_in_what_is_stored_about_a_failure(world: World, error: BridgeError) -> None:
    account = world.bridge.channels.vault.open(world.channel.sealed_account or "")
    refusing, _ = door(world, error)
    turn = generated(refusing)
    send(refusing, turn)
    assert account.token not in world.turn(turn.id).model_dump_json()


# the budget


def test_the_eleventh_chunk_waits_for_the_person_and_goes_out_with_their_next_message(world: World) -> None:
    quick = setting(world, "reply", pacing_seconds=0.0)
    turn = generated(quick)
    with_chunks(quick, turn, 12)
    assert send(quick, turn) == Park("send_budget")
    assert len(world.delivered()) == 10
    assert sends_left(world) == 0
    assert send(quick, turn) == Done()
    world.receive(world.text("go on"))
    world.make_due()
    quick.flush()
    assert send(quick, turn) == Done()
    assert world.delivered() == [f"c{number}" for number in range(12)]
    assert {row["refused"] for row in world.control.sends(world.bot_id)} == {""}


def test_a_repeat_does_not_release_it(world: World) -> None:
    quick = setting(world, "reply", pacing_seconds=0.0)
    message = world.text("hello")
    world.receive(message)
    world.make_due()
    turn = world.flush()
    assert turn is not None
    reply.generate_reply(quick.bridge, turn.id)
    with_chunks(quick, turn, 11)
    send(quick, turn)
    world.receive(message.model_copy(update={"context_token": "another"}))
    world.make_due()
    quick.flush()
    assert world.turn(turn.id).state is TurnState.PARKED
    assert len(world.delivered()) == 10


def test_a_day_after_the_last_message_nothing_is_sent(world: World) -> None:
    turn = generated(world)
    long_ago = world.bridge.clock.now() - timedelta(hours=24, seconds=1)
    world.bridge.conversations.collection.update_one({"_id": world.chat()}, {"$set": {"context_at": long_ago}})
    assert send(world, turn) == Park("send_budget")
    assert world.control.sends(world.bot_id) == []
