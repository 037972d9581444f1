"""A Celery application for an operator's own tasks that answer turns (engine kind ``task``)."""

from __future__ import annotations

from celery import Celery

from wechat_bridge.tasks.config import celery_options

SHARED = (
    "broker_url", "broker_transport_options", "broker_connection_retry_on_startup", "result_backend",
    "result_backend_transport_options", "result_expires", "task_serializer", "accept_content", "timezone",
)  # fmt: skip
"""Without these the two would not find each other's messages in Redis."""


def engine_app(name: str, queue: str) -> Celery:
    """Return an application on the bridge's Redis (``REDIS_URL``) whose worker reads ``queue``. Opens no connection."""
    options = celery_options()
    app = Celery(name)
    app.conf.update({option: getattr(options, option) for option in SHARED})
    app.conf.task_default_queue = queue
    return app
