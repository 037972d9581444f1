"""Files as people send them: what counts is how they begin."""

from __future__ import annotations

import hashlib

PNG_HEAD = b"\x89PNG\r\n\x1a\n"
JPEG_HEAD = b"\xff\xd8\xff\xe0\x00\x10JFIF"


def noise(size: int, seed: str = "noise") -> bytes:
    """Bytes that look like nothing, always the same ones."""
    return hashlib.shake_256(seed.encode()).digest(size)


def png(size: int = 3_000, seed: str = "png") -> bytes:
    """A picture of so many bytes."""
    return PNG_HEAD + noise(size - len(PNG_HEAD), seed)


def pdf(size: int = 2_000) -> bytes:
    """A document of so many bytes."""
    return b"%PDF-1.7\n" + noise(size - 9, "pdf")


def silk(size: int = 1_200) -> bytes:
    """A voice as WeChat's CDN has it."""
    return b"\x02#!SILK_V3" + noise(size - 10, "silk")


def mp4(size: int = 5_000) -> bytes:
    """A film of so many bytes."""
    return b"\x00\x00\x00\x20ftypisom" + noise(size - 12, "mp4")
