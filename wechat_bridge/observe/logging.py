"""One event, one line, with the ids of what it is about; never a secret."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog

from wechat_bridge.observe.secrets import masked
from wechat_bridge.observe.sink import NonBlockingHandler

Event = MutableMapping[str, Any]

QUIET = (
    "urllib3",
    "pymongo",
    "kombu",
    "celery.app.trace",
    "celery.worker.strategy",
    "celery.beat",
    "uvicorn.access",
)
"""Libraries that log every single request or task; only their warnings are kept."""

ADOPTED = ("uvicorn", "uvicorn.error", "uvicorn.access")
"""Libraries that give their loggers handlers of their own; their lines go the same way as all others."""


def logger(name: str) -> structlog.stdlib.BoundLogger:
    """Return the logger of a module; events are short names in snake case, ids are keyword arguments."""
    found: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return found


def configure(log_format: str = "json", level: str = "INFO", stream: TextIO | None = None) -> None:
    """Send every log line of this process, other libraries' included, to one stream (stderr) in one format.

    ``log_format`` is json or console. A stream that blocks loses lines, counted in
    ``wechat_bridge_log_lines_dropped_total``, and delays nobody.
    """
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    stream = stream or sys.stderr
    handler = NonBlockingHandler(stream)
    handler.setFormatter(_formatter(log_format, colors=stream.isatty()))
    root = logging.getLogger()
    _replace_handlers(root, handler)
    root.setLevel(level)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in ADOPTED:
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True


def _replace_handlers(root: logging.Logger, handler: logging.Handler) -> None:
    for old in root.handlers[:]:
        root.removeHandler(old)
        if isinstance(old, NonBlockingHandler):
            old.close()
    root.addHandler(handler)


def _formatter(log_format: str, colors: bool) -> logging.Formatter:
    renderer: Any = structlog.processors.JSONRenderer(ensure_ascii=False, default=str)
    if log_format == "console":
        renderer = structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=structlog.dev.plain_traceback)
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_shared(),
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            _mask,
            renderer,
        ],
    )


def _shared() -> list[Any]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _mask(_logger: Any, _method: str, event: Event) -> Event:
    """Mask secrets, whoever logged them; the last step before the line is written, so that it sees tracebacks too."""
    return {name: masked(value, name) for name, value in event.items()}
