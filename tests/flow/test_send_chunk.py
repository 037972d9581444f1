"""The ladder of a refused send, the pauses and the pacing of an account, and sends that bring no id."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.flow.delivering import calm, generated, generated_of, send, states, with_chunks
from tests.support.variations import OwnDoor, door, failing, setting, using
from tests.support.world import World
from wechat_bridge.errors import BrokerUnavailable, SendRefused
from wechat_bridge.model.outcome import Done, Park, RetryIn
from wechat_bridge.model.turn import ChunkState, TurnState


@pytest.mark.parametrize("field", ["ret", "errcode", "both"])
@pytest.mark.parametrize("errmsg", ["", "unknown error", "rate limited", "prepare failed"])
def test_a_refused_send_is_tried_once_more_without_its_token_and_then_waits_for_the_person(
    world: World, field: str, errmsg: str
) -> None:
    """Field report 4: one code, several meanings."""
    world.control.set_options(world.bot_id, text_limit_bytes=1, refusal_field=field, refusal_errmsg=errmsg)
    turn = generated(world)
    assert send(world, turn) == Park("send_refused")
    parked = world.turn(turn.id)
    assert (parked.state, parked.park_reason, parked.open) == (TurnState.PARKED, "send_refused", True)
    assert "-2" in (parked.error or "")
    assert errmsg in (parked.error or "")
    calm(world)
    assert send(world, turn) == Done()
    tokens = [row["context_token"] for row in world.control.sends(world.bot_id)]
    assert [bool(token) for token in tokens] == [True, False]
    assert states(world, turn) == [ChunkState.WAITING]


def test_a_send_refused_for_its_stale_token_goes_out_without_it(world: World) -> None:
    refusing, own = door(world, SendRefused(-2, "unknown error"))
    turn = generated(refusing)
    assert send(refusing, turn) == Done()
    assert [token for _, _, token in own.sent] == [world.bridge.conversations.get(world.chat()).context_token, ""]  # type: ignore[union-attr]
    assert len({client_id for _, client_id, _ in own.sent}) == 1


def test_a_token_that_came_meanwhile_is_the_one_to_try(world: World) -> None:
    newer = world.text("meanwhile")

    class Meanwhile(OwnDoor):
        """Lets the person write while the first send is refused."""

        def send_text(self, *args: Any) -> str | None:
            """Receive a message, then refuse; accept the second send."""
            if not self.sent:
                world.receive(newer)
            return super().send_text(*args)

    own = Meanwhile(SendRefused(-2, ""))
    assert send(using(world, doors=dict.fromkeys(world.bridge.doors, own)), generated(world)) == Done()
    assert own.sent[1][2] == newer.context_token


def test_a_send_refused_in_a_burst_is_tried_once_more_after_a_pause_of_the_whole_account(world: World) -> None:
    """Field report 9: every further attempt would lengthen the punishment."""
    quick = setting(world, "reply", pacing_seconds=0.01)
    refusing, own = door(quick, None, SendRefused(-2, "prepare failed"))
    turn = generated(refusing)
    with_chunks(refusing, turn, 3)
    outcome = send(refusing, turn)
    assert isinstance(outcome, RetryIn)
    assert outcome.seconds >= 65
    assert own.texts == ["c0", "c1"]
    other = generated_of(refusing, "bob")
    blocked = send(refusing, other)
    assert isinstance(blocked, RetryIn)
    assert blocked.seconds > 55
    assert len(own.sent) == 2, "nobody sends while the account pauses"
    calm(world)
    assert send(refusing, turn) == Done()
    assert own.texts == ["c0", "c1", "c1", "c2"]
    assert world.channel.send_refusals == 0, "an accepted send ends the row of refusals"
    assert send(refusing, other) == Done()


def test_pauses_grow_while_everything_is_refused(world: World) -> None:
    refusing, _ = door(setting(world, "reply", pacing_seconds=0.0), *[SendRefused(-2, "rate limited")] * 20)
    seconds = []
    for number in range(3):
        send(refusing, generated_of(refusing, f"user{number}"))
        until = world.channel.send_blocked_until
        assert until is not None
        seconds.append(round((until - world.bridge.clock.now()).total_seconds()))
        calm(world)
    assert seconds == [5, 10, 20]


def test_without_redis_sends_are_not_paced_but_go_out(world: World) -> None:
    away = failing(world, "pacing", "reserve", BrokerUnavailable("Redis: ConnectionError in reserve"))
    assert send(away, generated(away)) == Done()


def test_a_turn_whose_slot_is_far_away_gives_its_claim_back(world: World) -> None:
    for _ in range(3):
        world.bridge.pacing.reserve(world.share_id, 4.0, most_wait_seconds=60.0)
    turn = generated(world)
    outcome = send(setting(world, "reply", pacing_seconds=4.0), turn)
    assert isinstance(outcome, RetryIn)
    assert 10 < outcome.seconds <= 12
    waiting = world.turn(turn.id)
    assert (waiting.state, waiting.deliver_attempts, waiting.owner) == (TurnState.GENERATED, 0, None)


def test_a_run_of_sends_without_an_id_is_told_once_and_cleared_by_the_next_id(world: World) -> None:
    """Field report 28: accepted, but perhaps delivered to nobody. They are not sent again."""
    quiet, own = door(setting(world, "reply", pacing_seconds=0.0), *[None] * 6)
    with capture_logs() as lines:
        for number in range(7):
            assert send(quiet, generated_of(quiet, f"user{number}")) == Done()
    told = [(line["event"], line["cause"], line["subject"]) for line in lines if line["event"].startswith("alert")]
    assert told == [
        ("alert_raised", "sends_without_id", world.share_id),
        ("alert_cleared", "sends_without_id", world.share_id),
    ]
    assert len(own.sent) == 7
    ids = [world.turn(row["_id"]).chunks[0].message_id for row in turns_of(world)]
    assert ids.count(None) == 6


def turns_of(world: World) -> list[dict[str, Any]]:
    """The turns of the channel."""
    return list(world.bridge.turns.collection.find({"share_id": world.share_id}))
