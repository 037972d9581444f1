"""The media door of customer service: WeCom's own, with messages that look and are sent differently."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from wechat_bridge.channels.base import Uploaded
from wechat_bridge.channels.wecom.api import WecomApi
from wechat_bridge.channels.wecom.kf_door import KfDoor, kf
from wechat_bridge.channels.wecom.kf_items import media_id_of
from wechat_bridge.channels.wecom.media import MediaIds, WecomMedia
from wechat_bridge.errors import BrokerUnavailable, MediaExpired, PlatformUnavailable
from wechat_bridge.model.channel import Account


class KfMedia(WecomMedia):
    """Moves media for any account, from any thread; see WecomMedia."""

    def __init__(self, api: WecomApi, ids: MediaIds, *, most_bytes: int) -> None:
        super().__init__(api, ids, most_bytes=most_bytes)
        self._door = KfDoor(api)
        self._kept_ids = ids

    def fetch(
        self, account: Account, raw: str, position: int, sink: Callable[[bytes], object], total_seconds: float
    ) -> None:
        """Fetch the file of the entry whose text is ``raw``; see MediaDoor. A message has one part: 0."""
        super().fetch(account, json.dumps({"MediaId": _media_id(raw)}), position, sink, total_seconds)

    def send(
        self, account: Account, user_id: str, uploaded: Uploaded, client_id: str, context_token: str
    ) -> str | None:
        """Send what was uploaded; see MediaDoor. Of an id that is not good any more the next try uploads a new one."""
        app, item = kf(account), uploaded.item
        try:
            return self._door.send(app, user_id, item["msgtype"], {"media_id": item["media_id"]}, client_id)
        except MediaExpired as error:
            with suppress(BrokerUnavailable):  # then it is not kept either
                self._kept_ids.forget(app.corp_id, str(app.agent_id), item["mark"], item["media_id"])
            raise PlatformUnavailable(f"{error}; the file is uploaded anew") from error


def _media_id(raw: str) -> str:
    try:
        message: Any = json.loads(raw)
    except ValueError:
        return ""
    return media_id_of(message) if isinstance(message, dict) else ""
