"""One event, one line, with the ids of what it is about; never a secret."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

SECRET_PARTS = ("token", "password", "secret", "authorization", "api_key", "aeskey")
MASK = "***"

Event = MutableMapping[str, Any]


def logger(name: str) -> structlog.stdlib.BoundLogger:
    """Return the logger of a module; events are short names in snake case, ids are keyword arguments."""
    return structlog.stdlib.get_logger(name)


def configure(log_format: str = "json", level: str = "INFO") -> None:
    """Send every log line of this process, Celery's and other libraries' included, to stderr in one format."""
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
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_shared(),
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_rendered(log_format)],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for noisy in ("urllib3", "pymongo", "celery.app.trace", "celery.worker.strategy", "kombu", "celery.beat"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _shared() -> list[Any]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _mask,
    ]


def _rendered(log_format: str) -> list[Any]:
    if log_format == "console":
        return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]


def _mask(_logger: Any, _method: str, event: Event) -> Event:
    """Mask values whose names say that they are secret, whoever logged them."""
    for name in event:
        if any(part in name.lower() for part in SECRET_PARTS):
            event[name] = MASK
    return event
