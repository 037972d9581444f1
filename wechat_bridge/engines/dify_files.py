"""Files for Dify: uploaded first, then named by the question. What is too large for that goes as a link."""

from __future__ import annotations

import hashlib
import secrets

from wechat_bridge.engines.base import Attachment, Question
from wechat_bridge.engines.deadline import Deadline
from wechat_bridge.engines.http import EngineServer, Reply, bearer
from wechat_bridge.model.message import ItemKind

MOST_FILES = 10
MOST_FILE_BYTES = 10 * 1024 * 1024
"""Sent as an upload; larger ones are fetched by Dify, which has other limits for that."""

TYPES = {ItemKind.IMAGE: "image", ItemKind.VIDEO: "video", ItemKind.VOICE: "audio", ItemKind.FILE: "document"}
NAMES = {"image/jpeg": "picture.jpg", "image/png": "picture.png", "image/gif": "picture.gif", "image/webp": "p.webp"}
TOO_LARGE, UNKNOWN_KIND = 413, 415


def files_of(server: EngineServer, key: str, question: Question, deadline: Deadline) -> list[dict[str, str]]:
    """Upload what a turn brings and return it as a question names it.

    A file that Dify finds too large goes as a link; without one, or when it is of an unknown kind, it stays a marker in
    the text. Raises EngineUnavailable, EngineRefused, and LedgerUnavailable when a file cannot be read now.
    """
    taken = [media for media in question.media[:MOST_FILES] if media.kind in TYPES]
    named = [(media, _named(server, key, media, question, deadline)) for media in taken]
    return [{"type": TYPES[media.kind], **name} for media, name in named if name]


def needs_link(media: Attachment) -> bool:
    """Whether a file is too large for an upload."""
    return media.kind in TYPES and media.size > MOST_FILE_BYTES


def _named(
    server: EngineServer, key: str, media: Attachment, question: Question, deadline: Deadline
) -> dict[str, str] | None:
    by_link = {"transfer_method": "remote_url", "url": media.link} if media.link else None
    if needs_link(media):
        return by_link
    user = user_of(question)
    boundary = secrets.token_hex(16)
    headers = {**bearer(key), "Content-Type": f"multipart/form-data; boundary={boundary}"}
    with server.post("/files/upload", _form(boundary, media, user), headers, deadline) as reply:
        if reply.status in (TOO_LARGE, UNKNOWN_KIND):
            return by_link if reply.status == TOO_LARGE else None
        return {"transfer_method": "local_file", "upload_file_id": _upload_id(server, reply)}


def user_of(question: Question) -> str:
    """Return the end user as Dify knows them: always the same for one conversation, and no WeChat id."""
    return f"wechat-{hashlib.sha256(question.chat_id.encode('utf-8', 'replace')).hexdigest()[:32]}"


def _upload_id(server: EngineServer, reply: Reply) -> str:
    if reply.status not in (200, 201):
        raise server.failures.of_status(reply.status, reply.detail(), reply.headers)
    upload_id = reply.json().get("id")
    if not isinstance(upload_id, str) or not upload_id:
        raise server.failures.unavailable("answered an upload without an id")
    return upload_id


def _form(boundary: str, media: Attachment, user: str) -> bytes:
    name = (media.label or NAMES.get(media.mime, "file")).replace('"', "'").replace("\r", " ").replace("\n", " ")
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="user"\r\n\r\n{user}\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        f"Content-Type: {media.mime or 'application/octet-stream'}\r\n\r\n"
    )
    return head.encode("utf-8", "replace") + media.read() + f"\r\n--{boundary}--\r\n".encode()
