"""What people do with an app, as the fields of a callback."""

from __future__ import annotations

import time
from collections.abc import Sequence

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.app import App
from wechat_bridge.simulators.wecom.media_store import Media
from wechat_bridge.simulators.wecom.world import World

# Media kind to the fields beside MediaId.
BESIDE: dict[str, Json] = {"voice": {"Format": "amr"}, "video": {"ThumbMediaId": ""}}


def message_fields(world: World, app: App, user_id: str, given: Json, omit: Sequence[str]) -> Json:
    """The fields of a message or event of a person: the common ones, those given over them, some left out.

    A message gets a MsgId, an event none.
    """
    kind = given.get("MsgType", "text")
    common: Json = {
        "ToUserName": app.corp_id,
        "FromUserName": user_id,
        "CreateTime": int(time.time()),
        "MsgType": kind,
    }
    ends: Json = {} if kind == "event" else {"MsgId": next(world.message_ids)}
    fields = {**common, **({"EventKey": ""} if kind == "event" else {}), **given}
    fields |= {name: value for name, value in {**ends, "AgentID": app.agent_id}.items() if name not in fields}
    # JSON has no numbers of this size for some, so that ids may be given as text; on the wire they are bare.
    if str(fields.get("MsgId", "")).isdigit():
        fields["MsgId"] = int(fields["MsgId"])
    return {name: value for name, value in fields.items() if name not in omit}


def media_fields(world: World, media: Media) -> Json:
    """The fields of a message that carries a file."""
    fields: Json = {"MsgType": media.kind, "MediaId": media.media_id, **BESIDE.get(media.kind, {})}
    if media.kind == "image":
        fields["PicUrl"] = f"{world.base_url}/pic/{media.media_id}"
    if media.kind == "file":
        fields["FileName"] = media.filename
    return fields
