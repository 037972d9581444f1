"""``media/upload``: as what a file may go up, and how it is written."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from wechat_bridge.channels.base import OutboundFile
from wechat_bridge.errors import MediaRefused
from wechat_bridge.model.media import UNKNOWN_MIME, extension_of, file_name
from wechat_bridge.model.message import ItemKind

LEAST_BYTES = 6
_MIME = re.compile(r"[a-z0-9.+-]+/[a-z0-9.+-]+")  # it stands in a header, and an engine may have made it up
_MIB = 1024 * 1024
MOST_FILE_BYTES = 20 * _MIB


@dataclass(frozen=True, slots=True)
class _Shown:
    """What WeCom shows as more than a document: its media type, the formats, and the largest."""

    type: str
    mimes: frozenset[str]
    most_bytes: int


_SHOWN = {
    ItemKind.IMAGE: _Shown("image", frozenset({"image/png", "image/jpeg"}), 10 * _MIB),
    ItemKind.VIDEO: _Shown("video", frozenset({"video/mp4"}), 10 * _MIB),
    ItemKind.VOICE: _Shown("voice", frozenset({"audio/amr"}), 2 * _MIB),
}


def type_of(file: OutboundFile) -> str:
    """Return as what a file goes up; what WeCom would not show goes as a document. Raises MediaRefused."""
    size = len(file.data)
    if size < LEAST_BYTES or size > MOST_FILE_BYTES:
        raise MediaRefused(f"a file has {size} bytes; WeCom takes {LEAST_BYTES} to {MOST_FILE_BYTES}")
    shown = _SHOWN.get(file.kind)
    is_shown = shown is not None and file.mime in shown.mimes and size <= shown.most_bytes
    return shown.type if shown is not None and is_shown else "file"


def mark_of(file: OutboundFile, media_type: str) -> str:
    """Return what two uploads of the same file have in common."""
    name = f"{media_type}\n{ascii_name(file)}\n"
    return hashlib.sha256(name.encode() + file.data).hexdigest()[:32]


def ascii_name(file: OutboundFile) -> str:
    """Return the file's name in ASCII: others have come out broken (facts, section 5)."""
    name = file_name(file.label, file.mime)
    stem, _, extension = name.rpartition(".")
    kept = "".join(letter for letter in stem or extension if _is_plain(letter)).strip(" ._-")
    return f"{kept or 'file'}.{extension_of(file.label, file.mime)}"


def multipart(file: OutboundFile) -> tuple[str, bytes]:
    """Return the content type and the body of an upload: one part, ``media``."""
    mime = file.mime if _MIME.fullmatch(file.mime) else UNKNOWN_MIME
    boundary = f"wechat-bridge-{hashlib.sha256(file.data).hexdigest()[:32]}"
    head = (
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="media"; filename="{ascii_name(file)}"; filelength={len(file.data)}\r\n'
        f"Content-Type: {mime}\r\n\r\n"
    )
    return f"multipart/form-data; boundary={boundary}", head.encode() + file.data + f"\r\n--{boundary}--\r\n".encode()


def _is_plain(letter: str) -> bool:
    return letter.isascii() and (letter.isalnum() or letter in " ._-()")
