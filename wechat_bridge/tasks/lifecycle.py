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
from pymongo.errors import PyMongoError
from redis.exceptions import RedisError

from wechat_bridge import wiring
from wechat_bridge.errors import BridgeError
from wechat_bridge.flow.hand_back import hand_back
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
    _start("worker", queues=queues, slots=int(sender.concurrency))


def _start_beat(**_: Any) -> None:
    _start("beat")


def _start(kind: str, **given: Any) -> None:
    """Start the bridge in this process, or end the process: whoever supervises it starts it again.

    Celery swallows what a handler raises. The process would run on without a heartbeat, take doorbells and do nothing.
    """
    try:
        wiring.start_process(kind, **given)
    except (BridgeError, RedisError, PyMongoError, OSError) as error:
        raise SystemExit(f"wechat_bridge does not start: {error}") from error


def _refuse_prefork(**_: Any) -> None:
    raise SystemExit("wechat_bridge runs on threads: start the worker with -P threads")


def _stop_taking(**_: Any) -> None:
    """No new links. Open polls, engine calls and sends may end by themselves; after the grace they are ended."""
    bridge = wiring.bridge()
    bridge.stopping.set()
    timer = threading.Timer(bridge.settings.stop_grace_seconds, _end_grace)
    timer.daemon = True
    timer.start()


def _end_grace() -> None:
    """What is still worked on is given back first, so that being cut off is no failed attempt."""
    bridge, events = wiring.bridge(), wiring.gateway().events
    hand_back("turns", bridge.turns, bridge.owner, bridge.clock)
    hand_back("events", events, bridge.owner, bridge.clock)
    wiring.cut_open_calls()


def _leave(**_: Any) -> None:
    wiring.stop_process()
