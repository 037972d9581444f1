"""A log stream that blocks or breaks delays nobody."""

from __future__ import annotations

import io
import logging
import threading
import time

import pytest
from prometheus_client import REGISTRY

from wechat_bridge.observe.sink import NonBlockingHandler


class Gate(io.StringIO):
    """A stream that blocks until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.open = threading.Event()

    def write(self, text: str, /) -> int:
        self.entered.set()
        self.open.wait(10)
        return super().write(text)


def record(text: str) -> logging.LogRecord:
    return logging.LogRecord("test", logging.INFO, __file__, 1, text, None, None)


def dropped() -> float:
    return REGISTRY.get_sample_value("wechat_bridge_log_lines_dropped_total") or 0


def test_lines_are_written_in_order() -> None:
    stream = io.StringIO()
    handler = NonBlockingHandler(stream)
    for number in range(1_000):
        handler.handle(record(str(number)))
    handler.close()
    assert stream.getvalue().split() == [str(number) for number in range(1_000)]


def test_g4_a_stream_that_blocks_delays_nobody_and_lost_lines_are_counted() -> None:
    stream, before = Gate(), dropped()
    handler = NonBlockingHandler(stream, most_lines=10)
    handler.handle(record("first"))
    assert stream.entered.wait(5)
    started = time.monotonic()
    for number in range(1_000):
        handler.handle(record(str(number)))
    assert time.monotonic() - started < 1
    assert dropped() - before == 990
    stream.open.set()
    handler.close()
    assert stream.getvalue().split() == ["first", *map(str, range(10))]


def test_flushing_a_stream_that_blocks_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wechat_bridge.observe.sink.FLUSH_SECONDS", 0.1)
    stream = Gate()
    handler = NonBlockingHandler(stream)
    handler.handle(record("stuck"))
    started = time.monotonic()
    handler.close()
    assert time.monotonic() - started < 5
    assert stream.getvalue() == ""
    stream.open.set()


def test_a_stream_that_is_closed_only_costs_lines() -> None:
    stream, before = io.StringIO(), dropped()
    stream.close()
    handler = NonBlockingHandler(stream)
    handler.handle(record("into the void"))
    handler.close()
    assert dropped() - before == 1
