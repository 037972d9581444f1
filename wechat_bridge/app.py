"""The Celery application: ``celery -A wechat_bridge.app worker|beat|flower``. Importing it opens no connection."""

from __future__ import annotations

from celery import Celery

from wechat_bridge.tasks import lifecycle
from wechat_bridge.tasks.config import celery_options

app = Celery("wechat_bridge")
app.config_from_object(celery_options())
app.set_default()
lifecycle.connect(app)
