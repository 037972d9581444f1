"""What every request to iLink carries: addresses, headers, ``base_info``. iLink's own names stay as they are."""

from __future__ import annotations

import base64
import random

DEFAULT_BASE_URL = "https://ilinkai.weixin.qq.com"
GET_UPDATES = "ilink/bot/getupdates"
SEND_MESSAGE = "ilink/bot/sendmessage"
GET_UPLOAD_URL = "ilink/bot/getuploadurl"
GET_CONFIG = "ilink/bot/getconfig"
SEND_TYPING = "ilink/bot/sendtyping"
GET_BOT_QRCODE = "ilink/bot/get_bot_qrcode"
GET_QRCODE_STATUS = "ilink/bot/get_qrcode_status"

CHANNEL_VERSION = "2.4.9"  # the release of Tencent's own client whose protocol is spoken here
BOT_AGENT = "wechat-celery-bridge/0.1.0"


def url_of(base_url: str, endpoint: str) -> str:
    """Join a base URL, which may have a path of its own, and an endpoint."""
    return f"{base_url.rstrip('/')}/{endpoint}"


def app_version(version: str) -> str:
    """Return a version as iLink wants it: the decimal text of ``major << 16 | minor << 8 | patch``."""
    major, minor, patch = (int(part) & 0xFF for part in version.split("."))
    return str(major << 16 | minor << 8 | patch)


_APP_HEADERS = {"iLink-App-Id": "bot", "iLink-App-ClientVersion": app_version(CHANNEL_VERSION)}


def get_headers() -> dict[str, str]:
    """Return the headers of a GET."""
    return dict(_APP_HEADERS)


def post_headers(token: str = "") -> dict[str, str]:
    """Return the headers of a POST, with the bot's ``token`` where there is one.

    ``X-WECHAT-UIN`` is new for each request: a random uint32 as decimal text, in base64 (the text, not four bytes).
    """
    uin = base64.b64encode(str(random.getrandbits(32)).encode()).decode()
    headers = {
        "Content-Type": "application/json",
        "AuthorizationType": "ilink_bot_token",
        "X-WECHAT-UIN": uin,
        **_APP_HEADERS,
    }
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return headers


def base_info() -> dict[str, str]:
    """Return what every request with a token says about its sender."""
    return {"channel_version": CHANNEL_VERSION, "bot_agent": BOT_AGENT}
