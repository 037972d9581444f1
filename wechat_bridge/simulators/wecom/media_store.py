"""Temporary media: files of 3 days that every app of one corp may use."""

from __future__ import annotations

from dataclasses import dataclass, field

from wechat_bridge.simulators.wecom.codes import ApiError
from wechat_bridge.simulators.wecom.identifiers import random_text

LIFETIME_SECONDS = 3 * 86_400.0
LEAST_BYTES = 6
MEGABYTE = 1024 * 1024
MOST_BYTES = {"image": 10 * MEGABYTE, "voice": 2 * MEGABYTE, "video": 10 * MEGABYTE, "file": 20 * MEGABYTE}
# How files of a kind begin; kinds without an entry may begin with anything.
BEGINNINGS = {"image": (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"), "voice": (b"#!AMR",)}


@dataclass(frozen=True)
class Media:
    """One file and where it belongs; `created_at` in Unix seconds of the server's clock."""

    media_id: str
    corp_id: str
    kind: str
    filename: str
    content_type: str
    data: bytes = field(repr=False)
    created_at: float


class MediaStore:
    """Files by media id."""

    def __init__(self) -> None:
        self._files: dict[str, Media] = {}

    def keep(self, corp_id: str, kind: str, data: bytes, filename: str, content_type: str, now: float) -> Media:
        """Store a file as it is, and give it an id."""
        media = Media(f"3{random_text(60)}", corp_id, kind, filename, content_type, data, now)
        self._files[media.media_id] = media
        return media

    def find(self, corp_id: str, media_id: object, now: float, kind: str = "") -> Media:
        """The file of an id.

        Raises:
            ApiError: 40007, it is not there, of another corp or kind, or older than 3 days.
        """
        media = self._files.get(media_id) if isinstance(media_id, str) else None
        if media is None or media.corp_id != corp_id or kind not in {"", media.kind}:
            raise ApiError(40007)
        if now - media.created_at > LIFETIME_SECONDS:
            raise ApiError(40007)
        return media

    def picture(self, media_id: str) -> Media | None:
        """The image a PicUrl leads to; whoever has the URL may see it."""
        media = self._files.get(media_id)
        return media if media and media.kind == "image" else None


def check_upload(kind: str, data: bytes) -> None:
    """Refuse what the platform refuses.

    Raises:
        ApiError: 40005 unknown type or not such a file, 40006 or 44001 too small, 45001 too large.
    """
    if kind not in MOST_BYTES:
        raise ApiError(40005)
    if not data:
        raise ApiError(44001)
    if len(data) < LEAST_BYTES:
        raise ApiError(40006)
    if len(data) > MOST_BYTES[kind]:
        raise ApiError(45001)
    if not data.startswith(BEGINNINGS.get(kind, (b"",))):
        raise ApiError(40005)
