"""Ctrl-C and what means the same."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from wechat_bridge.cli.signals import STOPPING, StopSignals


def stop_myself(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", STOPPING)
def test_the_first_signal_interrupts_and_an_impatient_second_one_does_not(number: signal.Signals) -> None:
    cleaned_up = False
    with StopSignals():
        with pytest.raises(KeyboardInterrupt):
            stop_myself(number)
        stop_myself(number)
        stop_myself(signal.SIGINT)
        cleaned_up = True
    assert cleaned_up


def test_cleaning_up_without_a_signal_is_not_interrupted_either() -> None:
    cleaned_up = False
    with StopSignals() as signals:
        signals.ignore()
        stop_myself(signal.SIGTERM)
        cleaned_up = True
    assert cleaned_up


def test_afterwards_signals_do_what_they_did_before() -> None:
    def handlers() -> list[Callable[..., object] | int | None]:
        return [signal.getsignal(number) for number in STOPPING]

    before = handlers()
    with StopSignals() as signals:
        assert handlers() != before
        signals.ignore()
    assert handlers() == before
