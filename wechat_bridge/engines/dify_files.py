"""Files for Dify: uploaded first, then named by the question."""

from __future__ import annotations

import hashlib
import secrets

from wechat_bridge.engines.base import Attachment, Question
from wechat_bridge.engines.deadline import Deadline
from wechat_bridge.engines.http import EngineServer, bearer
from wechat_bridge.model.message import ItemKind

MOST_FILES = 10
MOST_FILE_BYTES = 10 * 1024 * 1024
TYPES = {ItemKind.IMAGE: "image", ItemKind.VIDEO: "video", ItemKind.VOICE: "audio", ItemKind.FILE: "document"}
NAMES = {"image/jpeg": "picture.jpg", "image/png": "picture.png", "image/gif": "picture.gif", "image/webp": "p.webp"}
NOT_TAKEN = frozenset({413, 415})


def uploaded(server: EngineServer, key: str, question: Question, deadline: Deadline) -> list[dict[str, str]]:
    """Upload what a turn brings and return it as a question names it.

    A file that Dify finds too large or of an unknown kind stays a marker in the text. Raises EngineUnavailable,
    EngineRefused, and LedgerUnavailable when a file cannot be read now.
    """
    found = []
    for media in question.media[:MOST_FILES]:
        if media.size > MOST_FILE_BYTES or media.kind not in TYPES:
            continue
        upload_id = _upload(server, key, media, user_of(question), deadline)
        if upload_id:
            kind = TYPES[media.kind]
            found.append({"type": kind, "transfer_method": "local_file", "upload_file_id": upload_id})
    return found


def user_of(question: Question) -> str:
    """Return the end user as Dify knows them: always the same for one conversation, and no WeChat id."""
    return f"wechat-{hashlib.sha256(question.chat_id.encode('utf-8', 'replace')).hexdigest()[:32]}"


def _upload(server: EngineServer, key: str, media: Attachment, user: str, deadline: Deadline) -> str:
    boundary = secrets.token_hex(16)
    body = _form(boundary, media, user)
    headers = {**bearer(key), "Content-Type": f"multipart/form-data; boundary={boundary}"}
    with server.post("/files/upload", body, headers, deadline) as reply:
        if reply.status in NOT_TAKEN:
            return ""
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
