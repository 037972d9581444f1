"""A process that must end gives back what it could not finish."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from wechat_bridge.errors import LedgerUnavailable
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.clock import LedgerClock

log = logger(__name__)


class Held(Protocol):
    """Work in the ledger that processes hold while they do it."""

    def hand_back(self, owner: str, now: datetime) -> int:
        """Give back all that a process holds, its attempt not counted; return how many. Raises LedgerUnavailable."""
        ...


def hand_back(what: str, held: Held, owner: str, clock: LedgerClock) -> None:
    """Let others go on with the work of this process at once, and do not count its attempts at it.

    ``what`` is its name in the log. Without the ledger it is as if the process had been killed: others take over when
    they see it dead.
    """
    try:
        count = held.hand_back(owner, clock.now())
    except LedgerUnavailable as error:
        log.warning(f"{what}_not_handed_back", error=str(error))
        return
    if count:
        log.warning(f"{what}_handed_back", count=count)
