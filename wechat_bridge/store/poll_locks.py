"""Poll locks, doorbell markers and failure counters in Redis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call, script


class PollLocks:
    """The lock refuses cheaply and can be revoked; the compare-and-set in the ledger is what holds.

    Every method raises BrokerUnavailable when Redis cannot be used.
    """

    def __init__(self, client: RedisClient, lifetime_seconds: float) -> None:
        self._client = client
        self._lifetime_ms = int(lifetime_seconds * 1000)
        self._take = script(client, "take")
        self._keep = script(client, "keep")
        self._release = script(client, "release")
        self._count_failure = script(client, "count_failure")

    @broker_call
    def take(self, share_id: str, owner: str, generation: int) -> bool:
        """Take the lock for a link; False when it is held."""
        lock = [redis_keys.poll_lock(share_id), redis_keys.poll_next(share_id)]
        return bool(self._take(keys=lock, args=[f"{owner}|{generation}", self._lifetime_ms]))

    @broker_call
    def keep(self, share_id: str, owner: str, generation: int) -> int | None:
        """Extend the lock and return how many poll doorbells wait; None when it is not ours any more."""
        lock = [redis_keys.poll_lock(share_id), redis_keys.queue("poll")]
        waiting = int(self._keep(keys=lock, args=[f"{owner}|{generation}", self._lifetime_ms]))
        return None if waiting < 0 else waiting

    @broker_call
    def release(self, share_id: str, owner: str, generation: int) -> bool:
        """Delete the lock if it is this link's."""
        return bool(self._release(keys=[redis_keys.poll_lock(share_id)], args=[f"{owner}|{generation}"]))

    @broker_call
    def release_dead(self, share_id: str, owner: str) -> bool:
        """Delete the lock if it is this owner's, whatever the generation."""
        return bool(self._release(keys=[redis_keys.poll_lock(share_id)], args=[f"{owner}|"]))

    @broker_call
    def revoke(self, share_id: str) -> None:
        """Delete the lock whoever holds it: the chain ends with its open poll."""
        self._client.delete(redis_keys.poll_lock(share_id))

    @broker_call
    def announce(self, share_id: str, owner: str, lifetime_seconds: float) -> None:
        """Mark that ``owner`` rang for this channel."""
        self._client.set(redis_keys.poll_next(share_id), owner, px=max(1, int(lifetime_seconds * 1000)))

    @broker_call
    def unannounce(self, share_id: str, owner: str) -> None:
        """Take back the mark that ``owner`` rang, unless somebody else has rung since."""
        self._release(keys=[redis_keys.poll_next(share_id)], args=[owner])

    @broker_call
    def announced(self, share_ids: Sequence[str]) -> list[str | None]:
        """Return who rang for each of these channels, or None where no doorbell is on its way."""
        if not share_ids:
            return []
        return cast("list[str | None]", self._client.mget([redis_keys.poll_next(share_id) for share_id in share_ids]))

    @broker_call
    def count_failure(self, share_id: str, window_seconds: int) -> int:
        """Count a failed poll; return how many there were in the window."""
        return int(self._count_failure(keys=[redis_keys.poll_failures(share_id)], args=[window_seconds]))

    @broker_call
    def clear_failures(self, share_id: str, window_seconds: int) -> None:
        """A poll worked: the next failure opens a new window."""
        self._client.set(redis_keys.poll_failures(share_id), "0", ex=window_seconds)
