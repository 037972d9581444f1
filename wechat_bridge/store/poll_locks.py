"""Poll locks, doorbell markers and failure counters in Redis."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call, script

MARKER_SECONDS = 8.0
"""How long a doorbell may take beyond its delay before the seeder rings again. Long enough for a busy queue (the seeder
looks into it first), short enough that a doorbell lost with its worker is replaced within 12 s."""


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
        """Take the lock for a link, and the doorbell's mark with it; False when the lock is held."""
        lock = [redis_keys.poll_lock(share_id), redis_keys.poll_next(share_id)]
        marker_ms = int(MARKER_SECONDS * 1000)
        return bool(self._take(keys=lock, args=[f"{owner}|{generation}", self._lifetime_ms, owner, marker_ms]))

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
    def release_dead(self, owners: Mapping[str, str]) -> int:
        """Delete the lock of each of these channels if it is this owner's, whatever the generation; return how many."""
        with self._client.pipeline(transaction=False) as pipe:
            for share_id, owner in owners.items():
                self._release(keys=[redis_keys.poll_lock(share_id)], args=[f"{owner}|"], client=pipe)
            return sum(pipe.execute())

    @broker_call
    def holders(self, share_ids: Sequence[str]) -> list[str | None]:
        """Return who holds the lock of each of these channels, or None."""
        if not share_ids:
            return []
        found = cast("list[str | None]", self._client.mget([redis_keys.poll_lock(share_id) for share_id in share_ids]))
        return [value and value.rpartition("|")[0] for value in found]

    @broker_call
    def revoke(self, share_id: str) -> None:
        """Delete the lock whoever holds it: the chain ends with its open poll."""
        self._client.delete(redis_keys.poll_lock(share_id))

    @broker_call
    def announce(self, share_id: str, owner: str, delay_seconds: float) -> None:
        """Mark that ``owner`` rings for this channel, after a delay."""
        self._client.set(redis_keys.poll_next(share_id), owner, px=int((delay_seconds + MARKER_SECONDS) * 1000))

    @broker_call
    def announce_all(self, owner: str, delays: Mapping[str, float], dead: Collection[str]) -> list[str]:
        """Mark that ``owner`` rings for these channels, each after its delay in seconds; return those it may ring.

        Of several who want to ring for a channel one may; the mark of a ``dead`` owner is replaced. Two round trips.
        """
        marks = dict(zip(delays, self.announced(list(delays)), strict=True))
        with self._client.pipeline(transaction=False) as pipe:
            for share_id, delay in delays.items():
                lifetime_ms = int((delay + MARKER_SECONDS) * 1000)
                pipe.set(redis_keys.poll_next(share_id), owner, nx=marks[share_id] not in dead, px=lifetime_ms)
            return [share_id for share_id, won in zip(delays, pipe.execute(), strict=True) if won]

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
