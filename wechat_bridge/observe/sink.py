"""A log handler that delays nobody: when its stream blocks, lines are dropped and counted instead."""

from __future__ import annotations

import logging
import queue
import threading
from typing import TextIO

from wechat_bridge.observe import metrics

MOST_LINES = 10_000
FLUSH_SECONDS = 2.0


class NonBlockingHandler(logging.Handler):
    """Formats a line in the thread that logs, writes it in a thread of its own."""

    def __init__(self, stream: TextIO, most_lines: int = MOST_LINES) -> None:
        super().__init__()
        self._stream = stream
        self._lines: queue.Queue[str | threading.Event | None] = queue.Queue(most_lines)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue the line of a record, or drop it when too many wait."""
        try:
            line = self.format(record)
        except (TypeError, ValueError, KeyError, AttributeError):
            self.handleError(record)
            return
        self._start()
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            metrics.log_lines_dropped_total.inc()

    def flush(self) -> None:
        """Wait until what was logged so far is written, but not for ever."""
        if self._thread is None:
            return
        written = threading.Event()
        try:
            self._lines.put(written, timeout=FLUSH_SECONDS)
        except queue.Full:
            return
        written.wait(FLUSH_SECONDS)

    def close(self) -> None:
        """Write what is left and end the thread."""
        self.flush()
        try:
            self._lines.put_nowait(None)
        except queue.Full:
            metrics.log_lines_dropped_total.inc(self._lines.qsize())
        super().close()

    def _start(self) -> None:
        if self._thread is not None:
            return
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._write, name="log", daemon=True)
                self._thread.start()

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            if isinstance(line, threading.Event):
                line.set()
            else:
                self._write_line(line)

    def _write_line(self, line: str) -> None:
        try:
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # the reader has gone, or the stream is closed
            metrics.log_lines_dropped_total.inc()
