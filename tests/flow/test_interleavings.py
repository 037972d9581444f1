"""Two workers on one conversation, interrupted at every call of the ledger: each message is answered exactly once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import count

import pytest

from tests.support.lockstep import Lockstep, two_switches
from tests.support.variations import door, process, setting
from tests.support.world import World
from wechat_bridge.errors import BridgeError, SendRefused
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.model import keys, ladder
from wechat_bridge.model.message import InboundMessage
from wechat_bridge.model.turn import Turn, TurnState

Order = Sequence[tuple[int, int]]
EVERYTHING = "EVERY_INTERLEAVING" in os.environ
"""Whether all orders are played, which takes half an hour."""

pytestmark = pytest.mark.slow

_names = count()


class Case:
    """One conversation of its own, worked on in one order."""

    def __init__(self, world: World, order: Order, *outcomes: BridgeError) -> None:
        self.name = f"u{next(_names)}"
        self.order = order
        unpaced = setting(setting(world, "debounce", idle_seconds=0.0), "reply", pacing_seconds=0.0)
        quick, self.door = door(unpaced, *outcomes)
        self.lockstep = Lockstep(quick, order)
        self.world = self.lockstep.world
        self.received: list[InboundMessage] = []
        self.ended: Turn | None = None

    @property
    def chat(self) -> str:
        """The conversation."""
        return self.world.chat(self.name)

    def receive(self, *texts: str) -> None:
        """Let this conversation's person write; one answer of a poll brings it."""
        messages = [self.world.text(text, name=self.name) for text in texts]
        self.received += messages
        self.lockstep.receive(*messages)

    def ring(self, verb: str, subject: str) -> None:
        """A doorbell of the test's own, beside those that are rung."""
        self.lockstep.bells.soon.append((verb, subject))

    def turn(self) -> Turn:
        """The open turn."""
        turn = self.world.bridge.turns.open_of(self.chat)
        assert turn is not None
        return turn

    def client_id(self, number: int) -> str:
        """The id under which a chunk of the answer to the first message goes out."""
        return keys.client_id(keys.turn_id(self.world.share_id, self.received[0].message_id), number)

    def check(self) -> None:
        """Everything was answered once and in order, nothing is left over, and nobody has to look again."""
        texts = [message.items[0].text for message in self.received]
        accepted = [text for text, _, _ in self.door.sent if text]
        assert sorted("\n".join(accepted).split("\n")) == sorted(texts), self.order
        self.check_nothing_is_left()

    def check_nothing_is_left(self) -> None:
        """Every row and every turn has ended, and the conversation is quiet."""
        bridge = self.world.bridge
        assert {self.world.row_state(message) for message in self.received} == {("done", "")}, self.order
        conversation = bridge.conversations.get(self.chat)
        assert conversation is not None
        assert (conversation.flush_at, conversation.blocked) == (None, False), self.order
        assert bridge.turns.open_of(self.chat) is None, self.order


def take_over(case: Case, world: World) -> None:
    """Sweep as a process to which the other worker's process is dead, then work as that process."""
    Sweeper().sweep(world.bridge)
    case.lockstep.answer_bells(world.bridge)
    case.ended = world.bridge.turns.get(keys.turn_id(world.share_id, case.received[0].message_id))


def nothing() -> None:
    """A worker that only answers doorbells."""


def orders(world: World) -> Iterator[list[tuple[int, int]]]:
    """The orders of two workers, of which one alone would take one message from flush to end."""
    alone = Case(world, [])
    alone.receive("m")
    alone.lockstep.run(nothing)
    alone.check()
    most = max(alone.lockstep.turnstile.steps)
    assert most > 12
    return two_switches(most, everything=EVERYTHING)


def test_two_doorbells_for_the_same_messages(world: World) -> None:
    for order in orders(world):
        case = Case(world, order)
        case.receive("m1", "m2")
        case.ring("flush", case.chat)
        case.lockstep.run(nothing, nothing)
        case.check()
        assert case.door.texts == ["m1\nm2"], order


def test_a_message_that_arrives_at_any_moment_of_another_ones_turn(world: World) -> None:
    for order in orders(world):
        case = Case(world, order)
        case.receive("m1")
        case.lockstep.run(nothing, lambda case=case: case.receive("m2"))  # type: ignore[misc]
        case.check()
        assert case.door.texts in (["m1", "m2"], ["m1\nm2"]), order


def test_two_messages_that_arrive_at_once(world: World) -> None:
    for order in orders(world):
        case = Case(world, order)
        case.lockstep.run(lambda case=case: case.receive("m1"), lambda case=case: case.receive("m2"))  # type: ignore[misc]
        case.check()


def test_the_same_message_delivered_twice_at_once(world: World) -> None:
    for order in orders(world):
        case = Case(world, order)
        message = world.text("m1", name=case.name)
        case.received.append(message)
        again = message.model_copy(update={"context_token": "another"})
        case.lockstep.run(
            lambda case=case, message=message: case.lockstep.receive(message),  # type: ignore[misc]
            lambda case=case, again=again: case.lockstep.receive(again),  # type: ignore[misc]
        )
        case.check()
        assert case.door.texts == ["m1"], order


def test_a_refused_reply_is_released_by_a_message_that_arrives_at_any_moment(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the refused send knew of that message already: then it waits for the next one."""
    monkeypatch.setattr(ladder, "PAUSE_SECONDS", 0.0)
    for order in orders(world):
        case = Case(world, order, *[SendRefused(-2, "prepare failed")] * 2)
        case.receive("m1")
        case.lockstep.run(nothing, lambda case=case: case.receive("m2"))  # type: ignore[misc]
        if world.bridge.turns.open_of(case.chat) is not None:
            assert case.turn().state is TurnState.PARKED, order
            assert len(case.door.sent) == 2, order
            case.receive("m3")
            case.lockstep.answer_bells()
        case.check_nothing_is_left()
        texts = [message.items[0].text for message in case.received]
        assert "\n".join(case.door.texts[2:]).split("\n") == texts, order


def test_a_sweep_that_finishes_what_another_worker_is_finishing(world: World) -> None:
    for order in orders(world):
        case = Case(world, order)
        case.receive("m1")
        case.lockstep.run(nothing, lambda case=case: Sweeper().sweep(case.world.bridge))  # type: ignore[misc]
        case.check()
        assert case.door.texts == ["m1"], order


def test_a_frozen_worker_that_wakes_at_any_moment_after_it_was_taken_over(world: World) -> None:
    """It changes nothing of a turn that has ended; what it was about to send goes out under the same client_id."""
    for order in orders(world):
        case = Case(world, order)
        case.receive("m1")
        taking_over = process(case.world, "me", dead=[world.bridge.owner])
        case.lockstep.run(nothing, lambda case=case, other=taking_over: take_over(case, other))  # type: ignore[misc]
        case.check_nothing_is_left()
        assert {(text, client_id) for text, client_id, _ in case.door.sent} == {("m1", case.client_id(0))}, order
        if case.ended is not None and not case.ended.open:
            assert world.turn(case.ended.id) == case.ended, order
