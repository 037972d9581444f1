"""Logging as a process has it, put back as it was after each test."""

from __future__ import annotations

import io
import json
import logging as standard
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import structlog
from structlog._config import BoundLoggerLazyProxy

from wechat_bridge.observe import logging


@dataclass
class Log:
    """What a process has written."""

    stream: io.StringIO = field(default_factory=io.StringIO)

    def text(self) -> str:
        """Return everything so far."""
        for handler in standard.getLogger().handlers:
            handler.flush()
        return self.stream.getvalue()

    def lines(self) -> list[dict[str, Any]]:
        """Return the JSON lines so far."""
        return [json.loads(line) for line in self.text().splitlines()]


@pytest.fixture
def restored() -> Iterator[None]:
    """Put the handlers and levels of the surrounding test run back."""
    root = standard.getLogger()
    handlers, level, quiet = (
        root.handlers[:],
        root.level,
        {name: standard.getLogger(name).level for name in logging.QUIET},
    )
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in quiet.items():
        standard.getLogger(name).setLevel(before)
    structlog.reset_defaults()
    _forget_cached_loggers()


def _forget_cached_loggers() -> None:
    """Let loggers that were used meanwhile follow later configurations, as ``capture_logs`` needs."""
    for module in list(sys.modules.values()):
        found = getattr(module, "log", None)
        if isinstance(found, BoundLoggerLazyProxy):
            vars(found).pop("bind", None)


@pytest.fixture
def log(restored: None) -> Log:
    """JSON lines, as a process in production writes them."""
    written = Log()
    logging.configure("json", "INFO", written.stream)
    return written
