"""Messages that could not be stored because MongoDB was away, kept in Redis until it is back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.model.message import InboxRow
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call, script

MOST_BATCHES = 10_000
"""Each callback is a batch of its own: an hour of three a second. Batches of polls are larger and fewer."""

MOST_CHANNEL_BYTES = 32 * 1024 * 1024
MOST_BYTES = 256 * 1024 * 1024
"""Of all channels together, so that doorbells still find room in Redis."""


class Spill:
    """One list per channel. Every method raises BrokerUnavailable when Redis cannot be used."""

    def __init__(
        self,
        client: RedisClient,
        most_batches: int = MOST_BATCHES,
        most_channel_bytes: int = MOST_CHANNEL_BYTES,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._client = client
        self._room = (most_batches, most_channel_bytes, most_bytes)
        self._put = script(client, "put_spill")
        self._drop = script(client, "drop_spill")
        self._forget = script(client, "forget_spill")

    @broker_call
    def put(self, share_id: str, rows: Sequence[InboxRow]) -> None:
        """Keep one answer's rows. Raises BrokerUnavailable also when there is no room for them."""
        batch = json.dumps([row.model_dump(mode="json") for row in rows])
        names = [redis_keys.spill(share_id), redis_keys.SPILLED, redis_keys.SPILL_BYTES]
        if not self._put(keys=names, args=[share_id, batch, *self._room]):
            raise BrokerUnavailable(
                f"the spill of channel {share_id} is full (at most {self._room[0]} batches and {self._room[1]} bytes, "
                f"{self._room[2]} bytes of all channels)"
            )

    @broker_call
    def channels(self) -> set[str]:
        """Return the channels that have a spill."""
        return cast("set[str]", self._client.smembers(redis_keys.SPILLED))

    @broker_call
    def peek(self, share_id: str, most: int = 1) -> tuple[list[str], list[InboxRow]] | None:
        """Return the oldest batches, at most so many, and their rows; None when there are none."""
        batches = cast("list[str]", self._client.lrange(redis_keys.spill(share_id), 0, most - 1))
        if not batches:
            return None
        return batches, [InboxRow.model_validate(row) for batch in batches for row in json.loads(batch)]

    @broker_call
    def forget_if_empty(self, share_id: str) -> None:
        """Take a channel off the list of those that have a spill, unless it has one."""
        self._forget(keys=[redis_keys.spill(share_id), redis_keys.SPILLED], args=[share_id])

    @broker_call
    def drop(self, share_id: str, batches: Sequence[str]) -> None:
        """Remove batches that are durable in the ledger now."""
        self._drop(keys=[redis_keys.spill(share_id), redis_keys.SPILL_BYTES], args=[share_id, *batches])
