"""What the broker brought and no task could be made of, and tasks that failed and were about no turn.

Doorbells only: the ledger knows what they were about, and the sweep rings again. They are kept because somebody should
know that they came: another version of the bridge rang, or somebody else writes to its queues.
"""

from __future__ import annotations

import hashlib
import json
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wechat_bridge.flow.context import Bridge
from wechat_bridge.flow.dead_letters.letters import fit_to_keep, keep
from wechat_bridge.model.dead_letter import BROKER_STAGE, TASK_STAGE, DeadLetter
from wechat_bridge.observe.secrets import masked
from wechat_bridge.store.ledger import patience

PATIENCE_SECONDS = 3.0
"""The worker takes no other doorbell meanwhile."""


MOST_SUBJECT_CHARACTERS = 200


@dataclass(frozen=True)
class RefusedMessage:
    """A message of the broker as it came. ``body`` may be anything, ``headers`` hold what its sender says of it."""

    body: bytes | str
    headers: Mapping[str, Any]
    content_type: str
    queue: str


def keep_refused_message(bridge: Bridge, message: RefusedMessage, reason: str, error: BaseException | None) -> None:
    """Keep a message of which no task could be made. The same content is kept once, however often it comes."""
    body = _text(message.body)
    task, task_id = str(message.headers.get("task", "")), str(message.headers.get("id", ""))
    content = {
        "raw": fit_to_keep(body),
        "task": fit_to_keep(task),
        "task_id": fit_to_keep(task_id),
        "queue": message.queue,
        "content_type": fit_to_keep(message.content_type),
        "headers": fit_to_keep(json.dumps(masked(message.headers), default=str)),
    }
    digest = hashlib.sha256("\0".join((task, message.content_type, body)).encode()).hexdigest()
    retries = message.headers.get("retries")
    attempts = 1 + retries if isinstance(retries, int) else 1
    letter_id = f"{BROKER_STAGE}:{digest[:32]}"
    trace_id = str(message.headers.get("root_id") or task_id)
    with patience(PATIENCE_SECONDS):
        keep(bridge, _letter(bridge, letter_id, BROKER_STAGE, content, error, reason, attempts, trace_id))


def keep_failed_task(bridge: Bridge, name: str, task_id: str, args: Sequence[Any], error: BaseException) -> None:
    """Keep the failure of a task that is about no turn: one letter for each task and what it was about."""
    subject = fit_to_keep(str(args[0]))[:MOST_SUBJECT_CHARACTERS] if args else ""
    content = {"raw": fit_to_keep(json.dumps(list(args), default=str)), "task": name, "task_id": task_id}
    with patience(PATIENCE_SECONDS):
        keep(bridge, _letter(bridge, f"{TASK_STAGE}:{name}:{subject}", TASK_STAGE, content, error, "", 1, task_id))


def _letter(
    bridge: Bridge, letter_id: str, stage: str, content: Mapping[str, str], error: BaseException | None, reason: str,
    attempts: int, trace_id: str,
) -> DeadLetter:  # fmt: skip
    now = bridge.clock.now()
    return DeadLetter(
        id=letter_id,
        share_id="",
        chat_id="",
        stage=stage,
        event_type="doorbell",
        error_class=type(error).__name__ if error else "",
        error=fit_to_keep(_text(": ".join(filter(None, (reason, str(error or "")))))),
        traceback=fit_to_keep(_text("".join(traceback.format_exception(error)))) if error else "",
        attempts=attempts,
        original=[{name: _text(value) for name, value in content.items()}],
        trace_id=_text(fit_to_keep(trace_id)),
        first_failure_at=now,
        last_failure_at=now,
    )


def _text(body: bytes | str) -> str:
    """Return any body as text that can be stored: bytes that are none, and halves of characters, are escaped."""
    encoded = body.encode("utf-8", "backslashreplace") if isinstance(body, str) else body
    return encoded.decode("utf-8", "backslashreplace")
