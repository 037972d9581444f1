"""Sending an answer: chunk by chunk, each accepted once, with the newest context, by who holds the claim."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.flow.delivering import generated, send, sends_left, states
from tests.support.together import together
from tests.support.variations import OwnDoor, door, engine, failing, process, setting, unanswered, using
from tests.support.world import World
from wechat_bridge.errors import LedgerUnavailable, OwnerStale, PlatformUnavailable
from wechat_bridge.flow import deliver, reply
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.flow.unfinished import Unfinished
from wechat_bridge.model import keys
from wechat_bridge.model.outcome import Done, GiveUp, RetryIn
from wechat_bridge.model.turn import ChunkState, TurnState

SENDING, WAITING, ACCEPTED = ChunkState.SENDING, ChunkState.WAITING, ChunkState.ACCEPTED


@pytest.fixture
def three(world: World) -> World:
    """A world whose engine answers in three chunks, sent without pauses, with a retry list of its own."""
    small = setting(world, "reply", chunk_characters=16, pacing_seconds=0.0)
    return using(engine(small, "first chunk... second chunk.. third chunk")[0], unfinished=Unfinished())


# all goes well


def test_chunks_go_out_in_order_each_with_its_client_id_and_the_context(three: World) -> None:
    message = three.text("hello")
    three.receive(message)
    three.make_due()
    turn = three.flush()
    assert turn is not None
    sent = three.answer(turn)
    rows = three.control.sends(three.bot_id)
    assert [row["text"] for row in rows] == ["first chunk...", "second chunk..", "third chunk"]
    assert [row["client_id"] for row in rows] == [keys.client_id(turn.id, number) for number in range(3)]
    assert {row["context_token"] for row in rows} == {message.context_token}
    assert (sent.state, sent.open, sent.error) == (TurnState.SENT, False, None)
    assert [chunk.message_id for chunk in sent.chunks] == [row["message_id"] for row in rows]
    assert three.row_state(message) == ("done", "")
    assert sends_left(three) == 7


@pytest.mark.parametrize("shape", ["message_id", "ret_message_id", "ret", "empty"])
def test_every_shape_of_success_is_one(world: World, shape: str) -> None:
    world.control.set_options(world.bot_id, send_answer=shape)
    turn = world.answer(generated(world))
    assert turn.state is TurnState.SENT
    assert (turn.chunks[0].message_id is not None) == ("message_id" in shape)
    assert world.delivered() == ["hello"]


def test_a_long_chinese_answer_arrives_whole_though_one_send_takes_16_kilobytes(world: World) -> None:
    answer = "答" * 6_000
    asking, _ = engine(setting(world, "reply", pacing_seconds=0.0), answer)
    assert asking.answer(generated(asking)).state is TurnState.SENT
    assert "".join(world.delivered()) == answer
    assert {row["refused"] for row in world.control.sends(world.bot_id)} == {""}


def test_ten_doorbells_at_once_send_one_answer(three: World) -> None:
    turn = generated(three)
    together(10, lambda _: deliver.deliver_reply(three.bridge, turn.id))
    assert three.delivered() == ["first chunk...", "second chunk..", "third chunk"]


def test_chunks_are_paced(three: World) -> None:
    paced = setting(three, "reply", pacing_seconds=0.3)
    turn = generated(paced)
    deliver.deliver_reply(paced.bridge, turn.id)
    times = [row["at"] for row in three.control.sends(three.bot_id)]
    assert len(times) == 3
    assert all(later - earlier >= 0.2 for earlier, later in pairwise(times)), "0.3 s, less what the ledger takes"


def test_a_message_that_arrives_during_the_delivery_brings_its_context_to_the_rest(three: World) -> None:
    turn = generated(three)
    newer = three.text("one more thing")

    class Interrupting(OwnDoor):
        """Is interrupted after the first chunk."""

        def send_text(self, *args: object) -> str | None:
            """Send, then let a message arrive."""
            accepted = super().send_text(*args)  # type: ignore[arg-type]
            if len(self.sent) == 1:
                three.receive(newer)
            return accepted

    own = Interrupting()
    interrupted = using(three, doors=dict.fromkeys(three.bridge.doors, own))
    assert send(interrupted, turn) == Done()
    tokens = [token for _, _, token in own.sent]
    assert tokens[0] != newer.context_token
    assert tokens[1:] == [newer.context_token] * 2


# outcomes nobody knows


def test_a_send_whose_answer_was_cut_is_sent_again_under_the_same_client_id_without_asking_the_engine(
    world: World,
) -> None:
    asking, scripted = engine(world, "the answer")
    turn = generated(asking)
    world.control.script("sendmessage", bot_id=world.bot_id, cut=True, process=True)
    world.control.set_options(world.bot_id, dedupe_client_id=True)
    assert isinstance(send(asking, turn), RetryIn)
    assert states(world, turn) == [SENDING]
    assert send(asking, turn) == Done()
    rows = world.control.sends(world.bot_id)
    assert len(rows) == 2
    assert rows[0]["client_id"] == rows[1]["client_id"]
    assert world.delivered() == ["the answer"]
    assert len(scripted.asked) == 1
    assert sends_left(world) == 9  # one share for one chunk


@pytest.mark.parametrize("script", [{"status": 502, "body": "<html>"}, {"body": "{"}, {"answer": {"ret": "x"}}])
def test_an_answer_that_says_nothing_leaves_the_chunk_unknown_and_the_rest_unsent(
    three: World, script: dict[str, object]
) -> None:
    turn = generated(three)
    three.control.script("sendmessage", bot_id=three.bot_id, **script)
    assert isinstance(send(three, turn), RetryIn)
    assert states(three, turn) == [SENDING, WAITING, WAITING]
    send(three, turn)
    assert three.delivered() == ["first chunk...", "second chunk..", "third chunk"]


def test_accepted_chunks_are_not_sent_again_when_a_later_one_fails(three: World) -> None:
    failing_once, own = door(three, None, PlatformUnavailable("reset"))
    turn = generated(failing_once)
    send(failing_once, turn)
    assert states(three, turn) == [ACCEPTED, SENDING, WAITING]
    assert send(failing_once, turn) == Done()
    assert own.texts == ["first chunk...", "second chunk..", "second chunk..", "third chunk"]


def test_a_send_that_never_works_is_given_up_after_four_attempts(world: World) -> None:
    broken, own = door(world, *[PlatformUnavailable("reset")] * 9)
    turn = generated(broken)
    outcomes = [send(broken, turn) for _ in range(4)]
    assert all(isinstance(outcome, RetryIn) for outcome in outcomes[:3])
    assert isinstance(outcomes[3], GiveUp)
    assert len(own.sent) == 4
    assert world.turn(turn.id).deliver_attempts == 4


@pytest.mark.parametrize("times", [1, 2])
def test_a_chunk_known_to_be_accepted_is_not_sent_again_though_it_could_not_be_written(
    three: World, times: int
) -> None:
    own_door, own = door(three)
    turn = generated(own_door)
    # The second write of a chunk is the one that says that it was accepted; then perhaps what follows from the failure.
    away = failing(own_door, "turns", "write_chunk", LedgerUnavailable("away"), after=1)
    if times == 2:
        away = failing(away, "turns", "release", LedgerUnavailable("away"))
        with pytest.raises(LedgerUnavailable):
            deliver.deliver_reply(away.bridge, turn.id)
        three.bridge.unfinished.work_off()
    else:
        assert isinstance(deliver.deliver_reply(away.bridge, turn.id), RetryIn)
    assert states(three, turn) == [ACCEPTED, WAITING, WAITING]
    send(own_door, turn)
    assert own.texts == ["first chunk...", "second chunk..", "third chunk"]


# claims


def test_a_process_that_is_not_seen_alive_claims_nothing(world: World) -> None:
    turn = generated(world)
    with pytest.raises(OwnerStale):
        deliver.deliver_reply(process(world, "frozen", stale=True).bridge, turn.id)
    assert world.turn(turn.id) == turn


def test_a_claim_of_which_nobody_heard_is_taken_back_and_does_not_count(three: World) -> None:
    turn = generated(three)
    with pytest.raises(LedgerUnavailable):
        deliver.deliver_reply(unanswered(three, "turns", "claim", LedgerUnavailable("away")).bridge, turn.id)
    three.bridge.unfinished.work_off()
    stored = three.turn(turn.id)
    assert (stored.state, stored.owner, stored.deliver_attempts) == (TurnState.GENERATED, None, 0)
    assert send(three, turn) == Done()
    assert len(three.delivered()) == 3


@pytest.mark.parametrize("method", ["finish", "write_chunk", "release"])
def test_a_write_of_which_nobody_heard_sends_nothing_twice(three: World, method: str) -> None:
    own_door, own = door(three)
    turn = generated(own_door)
    lost = unanswered(own_door, "turns", method, LedgerUnavailable("away"))
    deliver.deliver_reply(lost.bridge, turn.id)
    three.bridge.unfinished.work_off()
    send(own_door, turn)
    Sweeper().sweep(three.bridge)
    assert own.texts == ["first chunk...", "second chunk..", "third chunk"]
    assert three.turn(turn.id).state is TurnState.SENT
    assert not three.turn(turn.id).open


def test_who_loses_the_claim_between_two_chunks_sends_no_further(three: World) -> None:
    turn = generated(three)

    class Losing(OwnDoor):
        """Loses the claim during the second send."""

        def send_text(self, *args: object) -> str | None:
            """Send, and be taken over."""
            if len(self.sent) == 1:
                held = three.turn(turn.id)
                now = three.bridge.clock.now()
                three.bridge.turns.release(held, TurnState.GENERATED, now, now)
            return super().send_text(*args)  # type: ignore[arg-type]

    own = Losing()
    assert send(using(three, doors=dict.fromkeys(three.bridge.doors, own)), turn) == Done()
    assert own.texts == ["first chunk...", "second chunk.."]
    assert states(three, turn) == [ACCEPTED, SENDING, WAITING]  # unknown to the next owner: same client_id again
    another, other_door = door(process(three, "another"))
    send(another, turn)
    assert [client_id for _, client_id, _ in other_door.sent] == [keys.client_id(turn.id, number) for number in (1, 2)]


def test_an_answer_goes_to_the_person_who_asked(world: World) -> None:
    names = [f"p{number}" for number in range(8)]
    turn_ids = []
    for name in names:
        world.receive(world.text(f"from {name}", name=name))
        world.make_due(name)
        turn = world.flush(name)
        assert turn is not None
        turn_ids.append(turn.id)
    together(8, lambda number: reply.generate_reply(world.bridge, turn_ids[number]))
    together(8, lambda number: deliver.deliver_reply(world.bridge, turn_ids[7 - number]))
    assert [world.delivered(name) for name in names] == [[f"from {name}"] for name in names]


def test_a_chunk_that_is_accepted_lets_the_attempts_at_the_rest_count_anew(three: World) -> None:
    """A long reply under a stormy ledger is not given up because of the attempts that its first chunks took."""
    failing_once, own = door(three, PlatformUnavailable("cut"), None, PlatformUnavailable("cut"))
    turn = generated(failing_once)
    assert isinstance(send(failing_once, turn), RetryIn)
    assert three.turn(turn.id).deliver_attempts == 1
    assert isinstance(send(failing_once, turn), RetryIn)
    assert own.texts == ["first chunk...", "first chunk...", "second chunk.."]
    assert three.turn(turn.id).deliver_attempts == 1, (
        "the second attempt sent a chunk, and counts as the first of the rest"
    )
