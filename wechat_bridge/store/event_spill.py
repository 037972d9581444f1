"""Events that could not be stored because MongoDB was away, kept in Redis until it is back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.model.event import Event
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call

MOST_EVENTS = 10_000
"""Beyond this, events are not taken, and whoever sends them keeps them."""


class EventSpill:
    """One list. Every method raises BrokerUnavailable when Redis cannot be used."""

    def __init__(self, client: RedisClient, most_events: int = MOST_EVENTS) -> None:
        self._client = client
        self._most_events = most_events

    @broker_call
    def put(self, events: Sequence[Event]) -> None:
        """Keep events. Raises BrokerUnavailable also when there are too many."""
        if int(self._client.llen(redis_keys.EVENT_SPILL)) + len(events) > self._most_events:
            raise BrokerUnavailable(f"the spill of events is full ({self._most_events})")
        self._client.rpush(redis_keys.EVENT_SPILL, *(_text(event) for event in events))

    @broker_call
    def peek(self, most: int) -> list[tuple[str, Event]]:
        """Return the oldest events, each with the text by which it is dropped."""
        found = cast("list[str]", self._client.lrange(redis_keys.EVENT_SPILL, 0, most - 1))
        return [(text, Event.model_validate_json(text)) for text in found]

    @broker_call
    def drop(self, texts: Sequence[str]) -> None:
        """Remove what is durable in the ledger now."""
        pipeline = self._client.pipeline()
        for text in texts:
            pipeline.lrem(redis_keys.EVENT_SPILL, 1, text)
        pipeline.execute()

    @broker_call
    def count(self) -> int:
        """Return how many events wait for the ledger."""
        return int(self._client.llen(redis_keys.EVENT_SPILL))


def _text(event: Event) -> str:
    return event.model_dump_json()
