"""Tasks of customer service."""

from __future__ import annotations

from celery import shared_task

from wechat_bridge import wiring
from wechat_bridge.flow.customer_service import bell as customer_service_bell
from wechat_bridge.flow.customer_service import pull as customer_service
from wechat_bridge.tasks.base import BridgeTask


@shared_task(name="wechat_bridge.pull_customer_service", base=BridgeTask)
def pull_customer_service(share_id: str) -> None:
    """Read the customer service account of a channel."""
    customer_service.pull_customer_service(wiring.bridge(), share_id)


@shared_task(name="wechat_bridge.seed_customer_service", base=BridgeTask, send_events=False)
def seed_customer_service() -> None:
    """Ring for accounts that are due."""
    customer_service_bell.ring_due(wiring.bridge())
