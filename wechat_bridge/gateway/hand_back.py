"""A process that must end gives back the events that it could not hand over."""

from __future__ import annotations

from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.gateway.context import Gateway
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def hand_events_back(gateway: Gateway) -> None:
    """Let others go on with the events of this process at once, its attempts at them not counted."""
    try:
        count = gateway.events.hand_back(gateway.owner, gateway.clock.now())
    except LedgerUnavailable as error:
        log.warning("events_not_handed_back", error=str(error))
        return
    if count:
        log.warning("events_handed_back", count=count)
