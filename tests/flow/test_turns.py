"""Waiting messages become turns: the debounce, one open turn, and what two flushes at once may not do."""

from __future__ import annotations

from tests.support.world import World


def test_a_message_becomes_a_turn_and_is_answered_once(world: World) -> None:
    message = world.text("hello")
    world.receive(message)
    world.make_due()
    turn = world.flush()
    assert turn is not None
    assert world.answer(turn).state == "sent"
    assert world.delivered() == ["hello"]
    assert world.row_state(message) == ("done", "")
