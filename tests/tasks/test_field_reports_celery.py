"""No doorbell is delivered a second time because it waited, and none waits in a worker's memory (24 and 50)."""

from __future__ import annotations

import pytest
from celery import Celery

from wechat_bridge.tasks.doorbells import LONGEST_COUNTDOWN_SECONDS


@pytest.fixture
def app() -> Celery:
    """The application as workers have it."""
    from wechat_bridge.app import app

    return app


def test_the_longest_countdown_is_far_from_the_visibility_timeout(app: Celery) -> None:
    """Report 24: a countdown waits unacknowledged, and is delivered again when the visibility timeout has passed."""
    visibility_timeout = app.conf.broker_transport_options["visibility_timeout"]
    assert visibility_timeout >= 5 * LONGEST_COUNTDOWN_SECONDS


def test_no_worker_hoards_doorbells(app: Celery) -> None:
    """Report 50: what a worker cannot begin now waits in Redis, not in its memory."""
    assert app.conf.worker_disable_prefetch is True
    assert app.conf.worker_prefetch_multiplier == 1
