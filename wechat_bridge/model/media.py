"""What is sent besides text: pictures, films, voices, documents. As stored, and as told apart by their first bytes."""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel

from wechat_bridge.model.message import ItemKind

HEAD_BYTES = 64
"""So many bytes of a file tell its type."""

ORIGIN_PATTERN = r"(https?)://((?:\*\.)?[a-z0-9-][a-z0-9.-]*)(?::([0-9]{1,5}|\*))?"
"""An address that media may come from: scheme, host (``*.`` before it: every host below), port (``*``: every one)."""

UNKNOWN_MIME = "application/octet-stream"
LONGEST_LABEL = 255


class MediaState(StrEnum):
    """Where one piece of media stands."""

    RECEIVING = "receiving"  # its bytes are being written; where that broke off, the next attempt begins anew
    STORED = "stored"  # complete
    FAILED = "failed"  # could not be had; problem says why, and the turn went on without it


class Problem(StrEnum):
    """Why something cannot be read, in the words of the marker that stands in its place."""

    NO_ADDRESS = "没有下载地址"  # the message names neither an address nor a download parameter
    BAD_ADDRESS = "下载地址不被允许"  # not https, or a host that is not in media.origins; nothing was asked there
    NO_KEY = "没有密钥"  # encrypted, and the message carries no key
    WRONG_KEY = "密钥不符"  # decrypting it gave no file; seen when the same file is sent twice (Tencent issue 193)
    NOT_FOUND = "文件不存在"  # the server says 404 or 410
    REFUSED = "服务器拒绝"  # the server answered another 4xx, or redirected too often
    TOO_LARGE = "文件过大"  # more than media.most_bytes
    TOO_SLOW = "下载超时"  # media.fetch_seconds were used up
    NOT_AVAILABLE = "下载失败"  # the server or the network failed in every try
    TOO_MANY = "附件过多"  # more of them in one turn than are fetched
    UNSUPPORTED = "此渠道不支持"  # the platform's door fetches no media
    NO_LINK = "没有公开链接"  # the engine reads it by a link only: set PUBLIC_BASE_URL (and WECHAT_BRIDGE_SECRET_KEYS)
    EXPIRED = "内容已过期"  # the message is older than media and raw bodies are kept


class Media(BaseModel):
    """One document of the ``media`` collection, which says what is known of the bytes stored under ``file_id``.

    ``id`` names what it belongs to: part ``n`` of an inbound message, or file ``n`` of an answer. ``file_id`` is a
    generated name; the sender's own name is ``label``, for people only. ``text`` is what is said in a voice.
    """

    id: str
    turn_id: str
    row_id: str | None = None
    file_id: str
    kind: ItemKind
    label: str = ""
    mime: str = UNKNOWN_MIME
    size: int = 0
    sha256: str = ""
    state: MediaState = MediaState.RECEIVING
    problem: str = ""
    text: str | None = None
    at: datetime


def inbound_id(row_id: str, position: int) -> str:
    """Return the id of part ``position`` (from 0) of an inbound message."""
    return f"in:{row_id}:{position}"


def outbound_id(turn_id: str, fence: int, number: int) -> str:
    """Return the id of file ``number`` (from 0) of the answer that the claim of this fence brought."""
    return f"out:{turn_id}:{fence}:{number}"


_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def label_of(name: str) -> str:
    """Return the last part of a file name on one line: whoever chose it may have chosen a path (field report 55)."""
    last = " ".join(_CONTROL.sub(" ", re.split(r"[/\\]", name)[-1]).split())[:LONGEST_LABEL]
    return "" if last.strip(".") == "" else last


_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"BM", "image/bmp"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (4, b"ftypheic", "image/heic"),
    (4, b"ftypheix", "image/heic"),
    (4, b"ftypmif1", "image/heif"),
    (4, b"ftypavif", "image/avif"),
    (4, b"JXL \r\n", "image/jxl"),
    (0, b"\xff\x0a", "image/jxl"),
    (0, b"wxgf", "image/x-wxgf"),  # WeChat's own
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (8, b"AVI ", "video/x-msvideo"),
    (0, b"\x02#!SILK_V3", "audio/silk"),
    (0, b"#!SILK_V3", "audio/silk"),
    (0, b"#!AMR", "audio/amr"),
    (0, b"OggS", "audio/ogg"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
)
_OFFICE = "application/vnd.openxmlformats-officedocument."
_BY_EXTENSION = {
    "application/zip": {
        "docx": f"{_OFFICE}wordprocessingml.document",
        "xlsx": f"{_OFFICE}spreadsheetml.sheet",
        "pptx": f"{_OFFICE}presentationml.presentation",
        "epub": "application/epub+zip",
    },
    UNKNOWN_MIME: {
        "txt": "text/plain",
        "md": "text/markdown",
        "csv": "text/csv",
        "html": "text/html",
        "json": "application/json",
        "doc": "application/msword",
        "xls": "application/vnd.ms-excel",
        "ppt": "application/vnd.ms-powerpoint",
    },
}
_EXTENSIONS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "video/mp4": "mp4",
               "audio/mpeg": "mp3", "audio/wav": "wav", "application/pdf": "pdf", "text/plain": "txt"}  # fmt: skip


def mime_of(head: bytes, label: str = "") -> str:
    """Return the type that the first bytes show; the name decides only where many types begin alike, or with nothing.

    ``head`` are the first ``HEAD_BYTES`` bytes, or all of them.
    """
    found = next((mime for at, magic, mime in _MAGIC if head[at : at + len(magic)] == magic), UNKNOWN_MIME)
    extension = label.rpartition(".")[2].lower()
    return _BY_EXTENSION.get(found, {}).get(extension, found)


def is_image(head: bytes) -> bool:
    """Whether these bytes begin like a picture."""
    return mime_of(head).startswith("image/")


def extension_of(label: str, mime: str) -> str:
    """Return the extension that tells people and programs the type: what the bytes show, else the label's."""
    said = label.rpartition(".")[2].lower() if "." in label else ""
    return _EXTENSIONS.get(mime) or (said if re.fullmatch("[a-z0-9]{1,8}", said) else "bin")


def file_name(label: str, mime: str) -> str:
    """Return a name for a file that people are shown: its label, or one made from its type."""
    return label_of(label) or f"file.{_EXTENSIONS.get(mime, 'bin')}"
