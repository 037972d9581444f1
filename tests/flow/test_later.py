"""What is put off is done right after, by somebody else, and never in the way."""

from __future__ import annotations

import threading

import pytest

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.flow.later import Later


def test_steps_are_done_in_order_and_all_before_it_ends() -> None:
    done: list[int] = []
    later = Later()
    later.start()
    for number in range(50):
        assert later.do(lambda number=number: done.append(number))  # type: ignore[misc]
    later.stop()
    assert done == list(range(50))


def test_a_step_that_fails_is_told_and_keeps_none_from_being_done(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise BrokerUnavailable("Redis: gone")

    done = threading.Event()
    later = Later()
    later.start()
    later.do(fail)
    later.do(done.set)
    assert done.wait(5)
    later.stop()
    assert "Redis: gone" in capsys.readouterr().out


def test_what_does_not_fit_is_left_undone_and_nobody_waits_for_room() -> None:
    go_on = threading.Event()
    later = Later(most_steps=1)
    later.start()
    started = threading.Event()

    def hang() -> None:
        started.set()
        go_on.wait(10)

    later.do(hang)
    assert started.wait(5)
    assert later.do(lambda: None)
    assert not later.do(lambda: None)
    go_on.set()
    later.stop()
