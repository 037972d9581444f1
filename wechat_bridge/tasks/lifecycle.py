"""What a process does when it starts and when it is told to stop."""

from __future__ import annotations

import threading
from typing import Any

from celery import Celery
from celery.signals import (
    beat_init,
    setup_logging,
    task_internal_error,
    worker_init,
    worker_process_init,
    worker_shutdown,
    worker_shutting_down,
)

from wechat_bridge import wiring
from wechat_bridge.observe import logging
from wechat_bridge.settings import settings
from wechat_bridge.tasks import base


def connect(app: Celery) -> None:
    """Connect Celery's signals to the bridge's start and stop. Handlers are module functions, kept by reference."""
    wiring.use_celery(app)
    setup_logging.connect(_configure_logging)
    worker_init.connect(_start_worker)
    beat_init.connect(_start_beat)
    worker_process_init.connect(_refuse_prefork)
    task_internal_error.connect(base.keep_failure)
    worker_shutting_down.connect(_stop_taking)
    worker_shutdown.connect(_leave)


def _configure_logging(**_: Any) -> None:
    logging.configure(settings().log_format, settings().log_level)


def _start_worker(sender: Any, **_: Any) -> None:
    queues = tuple(sorted(sender.app.amqp.queues.consume_from))
    wiring.start_process("worker", queues=queues, slots=int(sender.concurrency))


def _start_beat(**_: Any) -> None:
    wiring.start_process("beat")


def _refuse_prefork(**_: Any) -> None:
    raise SystemExit("wechat_bridge runs on threads: start the worker with -P threads")


def _stop_taking(**_: Any) -> None:
    """No new links. Open polls end by themselves; after the grace their sockets are closed."""
    bridge = wiring.bridge()
    bridge.stopping.set()
    timer = threading.Timer(bridge.settings.stop_grace_seconds, wiring.cut_open_calls)
    timer.daemon = True
    timer.start()


def _leave(**_: Any) -> None:
    wiring.stop_process()
