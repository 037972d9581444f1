"""Tasks that keep the ledger moving."""

from __future__ import annotations

from celery import shared_task

from wechat_bridge import wiring
from wechat_bridge.flow.sweep import Sweeper
from wechat_bridge.tasks.base import BridgeTask

SWEEPER = Sweeper()


@shared_task(name="wechat_bridge.sweep", base=BridgeTask, send_events=False)
def sweep() -> None:
    """Ring again whatever is overdue, take over from dead owners."""
    SWEEPER.sweep(wiring.bridge())
