"""Slots for sends of one account, in Redis: WeChat punishes bursts, whichever workers they come from."""

from __future__ import annotations

from dataclasses import dataclass

from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call, script


@dataclass(frozen=True)
class Slot:
    """A reserved moment: how long to wait for it, and how long after the slot before it (None: over a minute)."""

    wait_seconds: float
    since_last_seconds: float | None


class SendPacing:
    """One key per account, which lives a minute beyond its slot."""

    def __init__(self, client: RedisClient) -> None:
        self._slot = script(client, "send_slot")

    @broker_call
    def reserve(self, share_id: str, gap_seconds: float) -> Slot:
        """Reserve the next slot of an account. Raises BrokerUnavailable."""
        wait_ms, since_ms = self._slot(keys=[redis_keys.send_slot(share_id)], args=[int(gap_seconds * 1000)])
        return Slot(int(wait_ms) / 1000, None if int(since_ms) < 0 else int(since_ms) / 1000)
