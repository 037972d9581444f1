"""The error codes of qyapi that the simulated server gives, and the shape of its refusals."""

from __future__ import annotations

import secrets
import time

from wechat_bridge.simulators.json_types import Json

MESSAGES = {
    0: "ok",
    -1: "system is busy",
    40001: "invalid credential",
    40004: "invalid media type",
    40005: "invalid type",
    40006: "invalid file size",
    40007: "invalid media_id",
    40008: "invalid message type",
    40013: "invalid corpid",
    40014: "invalid access_token",
    40033: "invalid request characters, not support \\uxxxx",
    40035: "invalid parameter",
    40056: "invalid agentid",
    40058: "invalid Request Parameter",
    40091: "invalid secret for this corp",
    40096: "invalid external userid",
    41001: "access_token missing",
    41005: "media data missing",
    41016: "title missing",
    41033: "description missing",
    42001: "access_token expired",
    42045: "invalid template_card.card_action",
    42052: "msgid expired, recall is possible within 24 hours",
    43001: "require GET method",
    43002: "require POST method",
    44001: "empty media data",
    44004: "text content is empty",
    45001: "media size out of limit",
    45002: "content size out of limit",
    45008: "article count out of limit",
    45009: "api freq out of limit",
    45033: "api concurrent out of limit",
    47001: "data format error",
    48002: "api forbidden",
    48007: "no privilege to access this open_kfid",
    50003: "app disabled",
    60020: "not allow to access from your ip",
    60140: "invalid response_code",
    81013: "user & party & tag all invalid",
    82001: "touser & toparty & totag all empty",
    95000: "invalid open_kfid",
    95001: "send msg count out of limit",
    95002: "send msg time out of limit",
    95007: "invalid msg token",
    95016: "invalid service_state transition",
    95018: "send msg not allowed in this service_state",
    301002: "not allow operate another agent with this accesstoken",
}
"""Error code to the words before the hint.

Of those of customer service only 95001 is known from a public client; the other 95xxx are not checked against the
official list.
"""


class ApiError(Exception):
    """A call is refused with an error code; HTTP 200 all the same."""

    def __init__(self, errcode: int, detail: str = "") -> None:
        super().__init__(f"{errcode} {detail}")
        self.errcode, self.detail = errcode, detail


def refusal(errcode: int, source_ip: str, detail: str = "") -> Json:
    """The body of a refused call; clients are told to match on errcode alone, because errmsg is full of particulars."""
    text = MESSAGES.get(errcode, "scripted error")
    hint = f"{int(time.time())}{secrets.randbelow(10**12):012d}"
    more = f"https://open.work.weixin.qq.com/devtool/query?e={errcode}"
    said = f"{text}{f' {detail}' if detail else ''}"
    return {"errcode": errcode, "errmsg": f"{said}, hint: [{hint}], from ip: {source_ip}, more info at {more}"}
