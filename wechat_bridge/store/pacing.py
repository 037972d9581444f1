"""Slots for sends, in Redis: platforms punish bursts, or discard what is too much, whichever workers it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call, script


@dataclass(frozen=True)
class Slot:
    """A moment: how long to wait for it, and how long after the slot before it (None: over a minute, or not known)."""

    wait_seconds: float
    since_last_seconds: float | None


class SendPacing:
    """One key per account, which lives a minute beyond its slot, or per person, which lives an hour beyond.

    A slot that is further away than ``most_wait_seconds`` is not reserved: who gives up waiting takes nobody's place.
    """

    def __init__(self, client: RedisClient) -> None:
        self._slot = script(client, "send_slot")
        self._person_slot = script(client, "person_slot")

    @broker_call
    def reserve(self, share_id: str, gap_seconds: float, most_wait_seconds: float) -> Slot:
        """Reserve the next slot of an account. Raises BrokerUnavailable."""
        args = [int(gap_seconds * 1000), int(most_wait_seconds * 1000)]
        wait_ms, since_ms = self._slot(keys=[redis_keys.send_slot(share_id)], args=args)
        return Slot(int(wait_ms) / 1000, None if int(since_ms) < 0 else int(since_ms) / 1000)

    @broker_call
    def reserve_for_person(
        self, account_id: str, user_id: str, per_minute: int, per_hour: int, most_wait_seconds: float
    ) -> Slot:
        """Reserve the next slot of a person with an account, in any window of a minute or an hour at most so many.

        Raises BrokerUnavailable.
        """
        key = redis_keys.person_slots(account_id, user_id)
        args = [per_minute, per_hour, int(most_wait_seconds * 1000)]
        return Slot(int(self._person_slot(keys=[key], args=args)) / 1000, None)
