"""The worker's consumer: it outlives a Redis that restarts, and keeps what it refuses as a dead letter.

Celery acknowledges or rejects such messages without calling any task's ``on_failure``, and on Redis both delete them.
"""

from __future__ import annotations

from typing import Any

from celery.worker.consumer import Consumer

from wechat_bridge import wiring
from wechat_bridge.errors import BridgeError
from wechat_bridge.flow.dead_letters.refused import RefusedMessage, keep_refused_message
from wechat_bridge.observe.logging import logger

log = logger(__name__)


class DeadLetterConsumer(Consumer):
    """Keeps a refused message, then does what Celery does with it."""

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Redis went away: let the connection go and connect again.

        Closing a channel that holds a countdown asks kombu 5.7's lost connection for its address, and the
        AttributeError that follows would end the worker.
        """
        try:
            super().on_connection_error_after_connected(exc)
        except AttributeError as error:
            log.warning("broken_connection_dropped", error=str(error))

    def on_decode_error(self, message: Any, exc: Exception) -> None:
        """The body cannot be decoded, or its content type is not accepted."""
        _keep(message, "the body cannot be decoded", exc)
        super().on_decode_error(message, exc)

    def on_unknown_message(self, body: Any, message: Any) -> None:
        """It names no task."""
        _keep(message, "it names no task", None)
        super().on_unknown_message(body, message)

    def on_unknown_task(self, body: Any, message: Any, exc: Exception) -> None:
        """It names a task that this version does not have."""
        _keep(message, "this version has no such task", exc)
        super().on_unknown_task(body, message, exc)

    def on_invalid_task(self, body: Any, message: Any, exc: Exception) -> None:
        """Its content type is refused, or its headers or arguments are not those of a task."""
        _keep(message, "it is no valid task message", exc)
        super().on_invalid_task(body, message, exc)


def _keep(message: Any, reason: str, error: Exception | None) -> None:
    refused = RefusedMessage(
        body=message.body if isinstance(message.body, bytes | str) else repr(message.body),
        headers=message.headers or {},
        content_type=str(message.content_type),
        queue=str((message.delivery_info or {}).get("routing_key", "")),
    )
    try:
        keep_refused_message(wiring.bridge(), refused, reason, error)
    except BridgeError as failure:
        # Only before this process has ever reached the ledger: without its clock nothing can be dated.
        log.critical("refused_message_lost", reason=reason, queue=refused.queue, error=str(failure))
