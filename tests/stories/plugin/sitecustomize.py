"""Python imports this at the start of every process of a story: it shortens the broker's visibility timeout.

What a worker is given is noted in a file, one task id per line, for Celery itself logs it nowhere.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from celery import signals

VISIBLE_AGAIN_SECONDS = 5
LOG_NAME = "STORY_RECEIVED_LOG"


def shorten(sender: Any, **_: Any) -> None:
    """Let Redis deliver again what a worker has not acknowledged within five seconds."""
    options = sender.conf.broker_transport_options
    sender.conf.broker_transport_options = {**options, "visibility_timeout": VISIBLE_AGAIN_SECONDS}


def note(request: Any, **_: Any) -> None:
    """Note what this worker was given."""
    with Path(os.environ[LOG_NAME]).open("a", encoding="utf-8") as log:
        log.write(f"{request.id}\n")


signals.import_modules.connect(shorten, weak=False)
signals.task_received.connect(note, weak=False)
