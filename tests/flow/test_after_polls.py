"""The work after polls leaves the ledger to those who take links, and never waits long for that."""

from __future__ import annotations

import threading
import time

import pytest

from tests.flow.polling import texts_waiting
from tests.support.variations import setting
from tests.support.world import World
from wechat_bridge.flow.after_polls import Places


def seconds_for_a_place(places: Places) -> float:
    """How long it takes to have a place."""
    began = time.monotonic()
    with places.place():
        return time.monotonic() - began


def test_who_finds_no_place_waits_until_one_is_free() -> None:
    places, entered = Places(1, 30.0), threading.Event()

    def enter() -> None:
        with places.place():
            entered.set()

    waiting = threading.Thread(target=enter)
    with places.place():
        waiting.start()
        assert not entered.wait(0.1)
    assert entered.wait(5)
    waiting.join(5)


def test_who_waited_long_enough_goes_on_without_a_place_and_takes_none_from_others() -> None:
    places = Places(1, 0.1)
    with places.place():
        assert seconds_for_a_place(places) >= 0.1
        assert seconds_for_a_place(places) >= 0.1, "the place was not given back by somebody who had none"
    assert seconds_for_a_place(places) < 0.1


def test_a_place_is_free_again_after_an_error() -> None:
    places = Places(1, 5.0)
    with pytest.raises(ValueError, match="broken"), places.place():
        raise ValueError("broken")
    assert seconds_for_a_place(places) < 5.0


def test_links_are_taken_while_no_place_is_free_and_what_they_bring_is_stored_a_little_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places(1, 0.5)
    monkeypatch.setattr("wechat_bridge.flow.poll.AFTER_POLLS", places)
    world.control.say(world.bot_id, world.user(), "hi")
    with places.place():
        began = time.time()
        setting(world, "poll", polls_per_task=1).poll()
        ended = time.time()
    assert world.control.polls(world.bot_id)[-1]["started_at"] < began + 0.4
    assert ended > began + 1.0, "the store waited, and the end of the link"
    assert texts_waiting(world) == ["hi"]
