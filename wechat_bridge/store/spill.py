"""Messages that could not be stored because MongoDB was away, kept in Redis until it is back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.model.message import InboxRow
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call, script


class Spill:
    """One list per channel. Every method raises BrokerUnavailable when Redis cannot be used."""

    def __init__(self, client: RedisClient, most_batches: int = 1000) -> None:
        self._client = client
        self._most_batches = most_batches
        self._forget = script(client, "forget_spill")

    @broker_call
    def put(self, share_id: str, rows: Sequence[InboxRow]) -> None:
        """Keep one answer's rows. Raises BrokerUnavailable also when the spill of the channel is full."""
        key = redis_keys.spill(share_id)
        if int(self._client.llen(key)) >= self._most_batches:
            raise BrokerUnavailable(f"the spill of channel {share_id} is full ({self._most_batches} batches)")
        batch = json.dumps([row.model_dump(mode="json") for row in rows])
        pipeline = self._client.pipeline()
        pipeline.rpush(key, batch)
        pipeline.sadd(redis_keys.SPILLED, share_id)
        pipeline.execute()

    @broker_call
    def channels(self) -> set[str]:
        """Return the channels that have a spill."""
        return cast("set[str]", self._client.smembers(redis_keys.SPILLED))

    @broker_call
    def peek(self, share_id: str) -> tuple[str, list[InboxRow]] | None:
        """Return the oldest batch and its rows, or None."""
        batch = cast("str | None", self._client.lindex(redis_keys.spill(share_id), 0))
        if batch is None:
            return None
        return batch, [InboxRow.model_validate(row) for row in json.loads(batch)]

    @broker_call
    def forget_if_empty(self, share_id: str) -> None:
        """Take a channel off the list of those that have a spill, unless it has one."""
        self._forget(keys=[redis_keys.spill(share_id), redis_keys.SPILLED], args=[share_id])

    @broker_call
    def drop(self, share_id: str, batch: str) -> None:
        """Remove a batch that is durable in the ledger now."""
        self._client.lrem(redis_keys.spill(share_id), 1, batch)
