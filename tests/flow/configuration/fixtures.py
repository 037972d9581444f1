"""A ledger without any version, and what an operator and a process do with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from tests.support.world import KEY
from wechat_bridge.flow.configuration.changes import Changes
from wechat_bridge.flow.configuration.check import Judge, RulesCheck
from wechat_bridge.flow.configuration.follow import Follower
from wechat_bridge.live import Live
from wechat_bridge.store import ledger, redis_keys
from wechat_bridge.store.configuration import ConfigurationCache, ConfigurationStore
from wechat_bridge.store.vault import Vault
from wechat_bridge.wiring import Wired

IDLE = "settings.debounce.idle_seconds"


def idle(seconds: object) -> dict[str, Any]:
    """A document that changes the window of debounce."""
    return {"settings": {"debounce": {"idle_seconds": seconds}}}


@dataclass
class Place:
    """One installation; ``key`` is its secret key, ``told`` what its processes told of the version in force there."""

    wired: Wired
    key: str = KEY
    told: list[int] = field(default_factory=list)

    @classmethod
    def empty(cls, wired: Wired) -> Place:
        """The installation with no version and nothing kept."""
        place = cls(wired)
        place.store.collection.delete_many({"number": {"$gte": 1}})
        wired.redis.delete(redis_keys.CONFIGURATION)
        return place

    @property
    def store(self) -> ConfigurationStore:
        """The versions."""
        return ConfigurationStore(ledger.database(self.wired.mongo), Vault((SecretStr(self.key),)))

    @property
    def changes(self) -> Changes:
        """What an operator does."""
        return Changes(self.store, self.wired.bridge.clock, Judge(self.wired.bridge.settings))

    def process(self, *checks: RulesCheck, store: ConfigurationStore | None = None) -> tuple[Live, Follower]:
        """A process that has loaded the configuration, and looks when it is told to."""
        live = Live(self.wired.bridge.settings)
        cache = ConfigurationCache(self.wired.redis)
        judge = Judge(self.wired.bridge.settings, checks)
        follower = Follower(live, judge, store or self.store, cache, self.told.append)
        follower.load()
        return live, follower

    def spoil(self, number: int, **fields: Any) -> None:
        """Change a stored version behind the bridge's back."""
        assert self.store.collection.update_one({"number": number}, {"$set": fields}).modified_count == 1
