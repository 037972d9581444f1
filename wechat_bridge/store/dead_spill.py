"""Dead letters that could not be stored because MongoDB was away, kept in Redis until it is back."""

from __future__ import annotations

from typing import cast

from wechat_bridge.errors import BrokerUnavailable
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call


class DeadLetterSpill:
    """One hash, by id, so that a letter is in it once. Every method raises BrokerUnavailable when Redis is away."""

    def __init__(self, client: RedisClient, most_letters: int = 1000) -> None:
        self._client = client
        self._most_letters = most_letters

    @broker_call
    def put(self, letter: DeadLetter) -> None:
        """Keep a letter. Raises BrokerUnavailable also when too many are kept already."""
        if self.count() >= self._most_letters:
            raise BrokerUnavailable(f"Redis holds {self._most_letters} dead letters already, and is to hold no more")
        self._client.hsetnx(redis_keys.DEAD_SPILL, letter.id, letter.model_dump_json())

    @broker_call
    def count(self) -> int:
        """Return how many letters are kept."""
        return int(self._client.hlen(redis_keys.DEAD_SPILL))

    @broker_call
    def letters(self) -> list[DeadLetter]:
        """Return every letter that is kept."""
        found = cast("list[str]", self._client.hvals(redis_keys.DEAD_SPILL))
        return [DeadLetter.model_validate_json(text) for text in found]

    @broker_call
    def drop(self, letter_id: str) -> None:
        """Remove a letter that is durable in the ledger now."""
        self._client.hdel(redis_keys.DEAD_SPILL, letter_id)
