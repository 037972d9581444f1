"""Tasks of the poll chain."""

from __future__ import annotations

from celery import shared_task

from wechat_bridge import wiring
from wechat_bridge.flow import poll
from wechat_bridge.flow.seed import Seeder
from wechat_bridge.tasks.base import BridgeTask

SEEDER = Seeder()


@shared_task(name="wechat_bridge.poll_channel", base=BridgeTask, send_events=False)
def poll_channel(share_id: str, generation: int) -> None:
    """Serve the link after ``generation`` of a channel."""
    poll.poll_channel(wiring.bridge(), share_id, generation)


@shared_task(name="wechat_bridge.seed_poll_chains", base=BridgeTask, send_events=False)
def seed_poll_chains() -> None:
    """Ring poll chains that nobody living is about to continue."""
    SEEDER.seed(wiring.bridge())
