"""The typing indicator: shown while an answer is worked on, taken away at its end, and harmless when it fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.system import wait_until
from tests.support.variations import using
from tests.support.world import World
from wechat_bridge.engines.base import Answer, Question
from wechat_bridge.flow import reply, typing_indicator
from wechat_bridge.flow.typing_indicator import TypingIndicator
from wechat_bridge.model.outcome import Done


class PatientEngine:
    """Answers when it is told to."""

    name = "echo"

    def __init__(self, until: Callable[[], bool]) -> None:
        self._until = until

    def answer(self, question: Question) -> Answer:
        """Wait, then answer with the question."""
        wait_until(self._until, 10, "the engine may answer")
        return Answer(text=question.text)


def answer(world: World, until: Callable[[], bool]) -> World:
    """Let a message of ann be answered by an engine that waits for something."""
    indicator = TypingIndicator()
    asking = using(world, engines={"echo": PatientEngine(until)}, typing=indicator)
    asking.receive(asking.text("hello"))
    asking.make_due()
    turn = asking.flush()
    assert turn is not None
    assert reply.generate_reply(asking.bridge, turn.id) == Done()
    return asking


def statuses(world: World) -> list[tuple[str, Any]]:
    return [(row["user_id"], row["status"]) for row in world.control.typing(world.bot_id)]


def test_a_person_sees_typing_until_the_answer_is_there(world: World) -> None:
    answer(world, lambda: len(statuses(world)) >= 1)
    wait_until(lambda: len(statuses(world)) >= 2, 5, "it is cancelled")
    assert statuses(world) == [(world.user(), 1), (world.user(), 2)]
    assert all(row["ticket_known"] for row in world.control.typing(world.bot_id))


def test_it_is_shown_again_before_it_fades(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typing_indicator, "REFRESH_SECONDS", 0.2)
    answer(world, lambda: len(statuses(world)) >= 3)
    wait_until(lambda: statuses(world)[-1][1] == 2, 5, "it is cancelled")
    assert [status for _, status in statuses(world)][:3] == [1, 1, 1]


def test_a_quick_answer_shows_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typing_indicator, "FIRST_SECONDS", 60.0)
    answer(world, lambda: True)
    assert statuses(world) == []


def test_a_platform_that_fails_with_it_changes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typing_indicator, "REFRESH_SECONDS", 0.2)
    world.control.script("sendtyping", world.bot_id, status=500, body="")
    answer(world, lambda: len(statuses(world)) >= 1)
    assert statuses(world)[0] == (world.user(), 1), "the next one came through"


def test_an_ended_session_is_noticed_through_it(world: World) -> None:
    world.control.expire_token(world.bot_id)
    answer(world, lambda: world.channel.status_reason == "login_needed")
    assert world.channel.status == "error"


def test_calls_of_one_indicator_never_overlap_and_the_cancel_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typing_indicator, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(typing_indicator, "REFRESH_SECONDS", 0.02)
    running = threading.Lock()
    seen: list[bool] = []
    most: list[bool] = []

    def set_typing(is_typing: bool) -> None:
        most.append(running.acquire(blocking=False))
        time.sleep(0.05)
        seen.append(is_typing)
        running.release()

    indicator = TypingIndicator()
    with indicator.shown(set_typing):
        wait_until(lambda: len(seen) >= 2, 5, "it was shown twice")
    wait_until(lambda: False in seen, 5, "it is cancelled")
    indicator.close()
    assert all(most)
    assert seen[-1] is False
    assert seen.count(False) == 1


def test_after_closing_nothing_is_shown() -> None:
    indicator = TypingIndicator()
    seen: list[bool] = []
    indicator.close()
    with indicator.shown(seen.append):
        assert seen == []
