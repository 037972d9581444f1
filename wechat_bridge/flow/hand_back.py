"""A process that must end gives back what it could not finish."""

from __future__ import annotations

from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.observe.logging import logger

log = logger(__name__)


def hand_back(bridge: Bridge) -> None:
    """Let others go on with the turns of this process at once, and do not count its attempts at them.

    Without the ledger it is as if the process had been killed: others take over when they see it dead.
    """
    try:
        count = bridge.turns.hand_back(bridge.owner, bridge.clock.now())
    except LedgerUnavailable as error:
        log.warning("turns_not_handed_back", error=str(error))
        return
    if count:
        log.warning("turns_handed_back", count=count)
