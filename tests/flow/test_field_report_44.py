"""Field report 44: a debounce that never merges, or merges too much, with the report's four feeds and its restart.

Time is the test's own: the ledger's clock of the bridge under test is moved on by hand.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.variations import process, setting, using
from tests.support.world import World
from wechat_bridge.flow import turns
from wechat_bridge.model import keys
from wechat_bridge.model.turn import Turn
from wechat_bridge.store.clock import LedgerClock

WINDOW_SECONDS = 2.0
SLACK_SECONDS = 0.3
"""Real time goes on, too, while a test moves the clock."""


class MovedClock(LedgerClock):
    """The ledger's clock, moved on by hand."""

    def __init__(self, real: LedgerClock) -> None:
        self._real = real
        self.moved_seconds = 0.0

    def now(self) -> datetime:
        """Return the moved time."""
        return self._real.now() + timedelta(seconds=self.moved_seconds)


@pytest.fixture
def clock(world: World) -> MovedClock:
    """The clock of the test."""
    return MovedClock(world.bridge.clock)


@pytest.fixture
def waiting(world: World, clock: MovedClock) -> World:
    """A channel that waits two seconds for more."""
    return setting(using(world, clock=clock), "debounce", idle_seconds=WINDOW_SECONDS)


def in_group(world: World, number: int, name: str, text: str) -> dict[str, Any]:
    """A message on the wire that somebody wrote in a group."""
    return {
        "message_id": number, "from_user_id": world.user(name), "message_type": 1, "group_id": "g1",
        "context_token": f"ct-{name}-{number}", "item_list": [{"type": 1, "text_item": {"text": text}}],
    }  # fmt: skip


def test_44_three_texts_half_a_second_apart_are_one_turn_two_seconds_after_the_last(
    waiting: World, clock: MovedClock
) -> None:
    messages = [waiting.text(text) for text in ("one", "two", "three")]
    for message in messages:
        waiting.receive(message)
        assert waiting.flush() is None, "no lane holds the first one through its window"
        clock.moved_seconds += 0.5
    clock.moved_seconds += WINDOW_SECONDS - 0.5 - SLACK_SECONDS
    assert waiting.flush() is None
    clock.moved_seconds += SLACK_SECONDS
    turn = waiting.flush()
    assert turn is not None
    assert len(turn.message_ids) == 3
    assert waiting.answer(turn).question == "one\ntwo\nthree"


def test_44_two_people_of_one_group_who_write_in_turns_are_a_turn_each(waiting: World, clock: MovedClock) -> None:
    said = [("ann", "a1"), ("bob", "b1"), ("ann", "a2"), ("bob", "b2")]
    messages = [in_group(waiting, 500 + at, name, text) for at, (name, text) in enumerate(said)]
    waiting.control.script(
        "getupdates", waiting.bot_id, answer={"ret": 0, "msgs": messages, "get_updates_buf": "B1"}
    )  # fmt: skip
    waiting.poll()
    clock.moved_seconds += WINDOW_SECONDS + SLACK_SECONDS
    for name in ("ann", "bob"):
        turn = waiting.flush(name)
        assert turn is not None
        waiting.answer(turn)
        assert waiting.delivered(name) == [f"{name[0]}1\n{name[0]}2"]


def test_44_one_person_on_two_accounts_is_a_turn_on_each(waiting: World, clock: MovedClock) -> None:
    other = World.create(waiting.wired, waiting.control, waiting.control.base_url)
    worlds = {waiting.share_id: waiting, other.share_id: other}
    for world in worlds.values():
        world.receive(world.text(f"to {world.share_id}", user_id="ann@im.wechat"))
    clock.moved_seconds += WINDOW_SECONDS + SLACK_SECONDS
    for share_id, world in worlds.items():
        turn = flushed(world, keys.chat_id(share_id, "ann@im.wechat"))
        assert world.answer(turn).question == f"to {share_id}"
    assert len({row["bot_id"] for row in waiting.control.deliveries("ann@im.wechat")}) == 2


def flushed(world: World, chat_id: str) -> Turn:
    """The turn of what waits in a conversation."""
    turns.flush_conversation(world.bridge, chat_id)
    turn = world.bridge.turns.open_of(chat_id)
    assert turn is not None
    return turn


def test_44_a_text_every_second_and_a_half_for_a_minute_is_answered_at_the_latest_deadline(
    waiting: World, clock: MovedClock
) -> None:
    began = clock.moved_seconds
    texts, questions, waited = [f"text {number}" for number in range(40)], [], []
    oldest = began
    for text in texts:
        waiting.receive(waiting.text(text))
        clock.moved_seconds += 1.5
        turn = waiting.flush()
        if turn is not None:
            questions.append(waiting.answer(turn).question or "")
            waited.append(clock.moved_seconds - oldest)
            oldest = clock.moved_seconds
    clock.moved_seconds += WINDOW_SECONDS + SLACK_SECONDS
    if (last := waiting.flush()) is not None:
        questions.append(waiting.answer(last).question or "")
    assert "\n".join(questions).split("\n") == texts
    assert 5 <= len(questions) <= 8, "merged, yet not for ever"
    assert max(waited) <= WINDOW_SECONDS * waiting.bridge.settings.debounce.most_windows + 1.5


def test_44_a_restart_during_the_window_loses_nothing(waiting: World, clock: MovedClock) -> None:
    waiting.receive(waiting.text("before the restart"))
    restarted = process(waiting, "restarted")
    restarted.receive(restarted.text("after it"))
    clock.moved_seconds += WINDOW_SECONDS + SLACK_SECONDS
    turn = restarted.flush()
    assert turn is not None
    restarted.answer(turn)
    assert waiting.delivered() == ["before the restart\nafter it"]
