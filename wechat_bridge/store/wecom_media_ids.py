"""The ids under which WeCom keeps uploaded files, in Redis, so that a file goes up once in three days."""

from __future__ import annotations

from typing import cast

from wechat_bridge.store import redis_keys
from wechat_bridge.store.broker import RedisClient, broker_call, script


class WecomMediaIds:
    """One key for each app and file. Every method raises BrokerUnavailable when Redis cannot be used."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client
        self._release = script(client, "release")

    @broker_call
    def get(self, corp_id: str, agent_id: str, mark: str) -> str | None:
        """Return the id of a file that was uploaded lately; None when there is none that is good for a while."""
        return cast("str | None", self._client.get(redis_keys.wecom_media(corp_id, agent_id, mark)))

    @broker_call
    def put(self, corp_id: str, agent_id: str, mark: str, media_id: str, good_seconds: float) -> None:
        """Keep the id of a file for as long as it is good."""
        self._client.set(redis_keys.wecom_media(corp_id, agent_id, mark), media_id, px=int(good_seconds * 1000))

    @broker_call
    def forget(self, corp_id: str, agent_id: str, mark: str, media_id: str) -> None:
        """Forget an id, unless the file has another one by now."""
        self._release(keys=[redis_keys.wecom_media(corp_id, agent_id, mark)], args=[media_id])
