"""``media/upload`` and ``media/get``."""

from __future__ import annotations

import re
from urllib.parse import quote

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.call import Answer, Call
from wechat_bridge.simulators.wecom.codes import ApiError
from wechat_bridge.simulators.wecom.limits import MINUTE_SECONDS
from wechat_bridge.simulators.wecom.media_store import check_upload

DEBUG_CALLS_PER_MINUTE = 5
RANGE = re.compile(r"bytes=(\d+)-(\d*)$")


def upload(call: Call) -> Json:
    """``POST media/upload``: multipart with the field ``media``. With ``debug=1`` only 5 calls a minute pass."""
    world, now = call.world, call.world.now()
    debugging = call.query.get("debug") == "1"
    limit = DEBUG_CALLS_PER_MINUTE if debugging else None
    if world.limits.exceeded(("debug", call.app.key), limit, MINUTE_SECONDS, now):
        raise ApiError(45009)
    if call.file is None:
        raise ApiError(41005)
    kind, file = call.query.get("type", ""), call.file
    check_upload(kind, file.data)
    media = world.media.keep(call.app.corp_id, kind, file.data, file.filename, file.content_type, now)
    return {"type": kind, "media_id": media.media_id, "created_at": str(int(now))}


def get(call: Call) -> Answer:
    """``GET media/get``: the bytes, or a range of them; JSON only when it is refused."""
    media = call.world.media.find(call.app.corp_id, call.query.get("media_id"), call.world.now())
    name = quote(media.filename, safe="")
    headers = {
        "Content-Type": media.content_type,
        "Content-Disposition": f"attachment; filename=\"{name}\"; filename*=UTF-8''{name}",
        "Accept-Ranges": "bytes",
    }
    wanted = RANGE.match(call.headers.get("range", ""))
    if wanted is None:
        return Answer(media.data, headers)
    first, size = int(wanted[1]), len(media.data)
    last = min(int(wanted[2] or size - 1), size - 1)
    if first > last:
        return Answer(b"", {"Content-Range": f"bytes */{size}"}, 416)
    return Answer(media.data[first : last + 1], {**headers, "Content-Range": f"bytes {first}-{last}/{size}"}, 206)
