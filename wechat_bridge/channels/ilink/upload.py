"""Put a file on iLink's CDN: ``getuploadurl``, the encrypted bytes, and the item that refers to them (facts, 6.1)."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from wechat_bridge.channels.base import OutboundFile, Uploaded
from wechat_bridge.channels.http import CallCut, HttpAnswer, HttpClient, HttpError
from wechat_bridge.channels.ilink import wire
from wechat_bridge.channels.ilink.answers import body_of, object_of
from wechat_bridge.channels.ilink.crypto import KEY_BYTES, encrypt, padded_size
from wechat_bridge.channels.ilink.lenient import clean
from wechat_bridge.channels.ilink.send import check_accepted
from wechat_bridge.errors import MediaRefused, PlatformUnavailable
from wechat_bridge.model.channel import Account
from wechat_bridge.model.media import file_name
from wechat_bridge.model.message import ItemKind

TRIES = 3
_CALL = "getuploadurl"
_BYTES = {"Content-Type": "application/octet-stream"}
_CONNECT_SECONDS = 5.0
_CALL_SECONDS = 15.0
_UPLOAD_TYPES = {ItemKind.IMAGE: 1, ItemKind.VIDEO: 2}  # not the numbers of the item types
_AS_FILE = 3  # also sounds: a voice of a bot is accepted and never shown (issue 215)


@dataclass(frozen=True)
class Upload:
    """One file on its way up: a new key and name for each attempt."""

    file: OutboundFile
    key: bytes = field(default_factory=lambda: secrets.token_bytes(KEY_BYTES), repr=False)
    filekey: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)

    def announcement(self, user_id: str) -> dict[str, Any]:
        """Return the body of ``getuploadurl``."""
        data = self.file.data
        return {
            "filekey": self.filekey,
            "media_type": _UPLOAD_TYPES.get(self.file.kind, _AS_FILE),
            "to_user_id": user_id,
            "rawsize": len(data),
            "rawfilemd5": hashlib.md5(data, usedforsecurity=False).hexdigest(),
            "filesize": padded_size(len(data)),
            "no_need_thumb": True,
            "aeskey": self.key.hex(),
            "base_info": wire.base_info(),
        }

    def item(self, download_parameter: str) -> dict[str, Any]:
        """Return the item of the message that shows the file."""
        size = padded_size(len(self.file.data))
        spelled = base64.b64encode(self.key.hex().encode()).decode()
        media = {"encrypt_query_param": download_parameter, "aes_key": spelled, "encrypt_type": 1}
        if self.file.kind is ItemKind.IMAGE:
            return {"type": 2, "image_item": {"media": media, "mid_size": size}}
        if self.file.kind is ItemKind.VIDEO:
            return {"type": 5, "video_item": {"media": media, "video_size": size}}
        name = file_name(self.file.label, self.file.mime)
        return {"type": 4, "file_item": {"media": media, "file_name": name, "len": str(len(self.file.data))}}


def upload_file(
    http: HttpClient,
    account: Account,
    user_id: str,
    file: OutboundFile,
    *,
    cdn_base_url: str,
    allow: Callable[[str], bool],
    total_seconds: float,
) -> Uploaded:
    """Upload a file for a person; see MediaDoor. ``allow`` says to which addresses bytes may go."""
    deadline = time.monotonic() + total_seconds
    upload = Upload(file)
    url = _upload_url(http, account, upload, user_id, cdn_base_url)
    if not allow(url):
        raise MediaRefused("WeChat gave an upload address that is not in media.origins; add it there if it is right")
    parameter = _put(http, url, encrypt(file.data, upload.key), deadline)
    return Uploaded(upload.item(parameter))


def _put(http: HttpClient, url: str, data: bytes, deadline: float) -> str:
    """Send the bytes, up to ``TRIES`` times; return the download parameter."""
    said = "no time left"
    for _ in range(TRIES):
        left = deadline - time.monotonic()
        if left <= 0:
            break
        try:
            answer = http.post_bytes(
                url, data, _BYTES, connect_seconds=_CONNECT_SECONDS, read_seconds=left, total_seconds=left
            )
        except CallCut:
            raise
        except HttpError as error:
            said = str(error)
            continue
        if parameter := _parameter(answer):
            return parameter
        said = _complaint(answer)
    raise PlatformUnavailable(f"the CDN did not take {len(data)} bytes ({said}); they are sent again")


def _upload_url(http: HttpClient, account: Account, upload: Upload, user_id: str, cdn_base_url: str) -> str:
    answer = http.post_json(
        wire.url_of(account.base_url, wire.GET_UPLOAD_URL),
        upload.announcement(user_id),
        wire.post_headers(account.token),
        connect_seconds=_CONNECT_SECONDS,
        read_seconds=_CALL_SECONDS,
        total_seconds=_CALL_SECONDS,
    )
    told = object_of(body_of(answer, _CALL), _CALL)
    check_accepted(told, _CALL, (account.token, upload.key.hex()))
    full_url, parameter = clean(told.get("upload_full_url")), clean(told.get("upload_param"))
    if full_url:
        return full_url
    if not parameter:
        raise PlatformUnavailable("WeChat answered getuploadurl without an address; it is tried again")
    query = f"encrypted_query_param={quote(parameter, safe='')}&filekey={quote(upload.filekey, safe='')}"
    return f"{cdn_base_url.rstrip('/')}/upload?{query}"


def _parameter(answer: HttpAnswer) -> str:
    """Return the download parameter of an accepted upload, or "". Raises MediaRefused for a 4xx."""
    if 400 <= answer.status < 500:
        raise MediaRefused(f"the CDN refuses the upload: {_complaint(answer)}")
    return clean(answer.headers.get("x-encrypted-param")) if answer.status == 200 else ""


def _complaint(answer: HttpAnswer) -> str:
    said = " ".join(clean(answer.headers.get("x-error-message")).split())[:200]
    missing = " without x-encrypted-param" if answer.status == 200 else ""
    return f"HTTP {answer.status}{missing}{f', {said}' if said else ''}"
