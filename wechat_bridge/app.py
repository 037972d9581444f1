"""The Celery application: ``celery -A wechat_bridge.app worker|beat|flower``. Importing it opens no connection."""

from __future__ import annotations

from celery import Celery

app = Celery("wechat_bridge")
app.config_from_object("celeryconfig")
app.set_default()

from wechat_bridge.tasks import lifecycle  # noqa: E402  # connects signals of the app made above

lifecycle.connect(app)
