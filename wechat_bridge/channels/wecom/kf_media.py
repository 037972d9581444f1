"""The media door of customer service: WeCom's own, with messages that look and are sent differently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wechat_bridge.channels.wecom.kf_door import KfDoor, kf
from wechat_bridge.channels.wecom.kf_items import media_id_of
from wechat_bridge.channels.wecom.media import MediaIds, WecomMedia
from wechat_bridge.model.wecom import WecomAccount


class KfMedia(WecomMedia):
    """Moves media for any account, from any thread; see WecomMedia."""

    def __init__(self, door: KfDoor, ids: MediaIds, *, most_bytes: int) -> None:
        super().__init__(door.api, ids, most_bytes=most_bytes)
        self._door = door

    def _media_id_of(self, message: dict[str, Any]) -> str:
        return media_id_of(message)

    def _show(
        self, app: WecomAccount, user_id: str, msgtype: str, content: Mapping[str, Any], client_id: str
    ) -> str | None:
        return self._door.send(kf(app), user_id, msgtype, content, client_id)
