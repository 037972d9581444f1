"""The body of a request, measured while it is read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import Request


class BodyTooLarge(Exception):
    """A body is, or says that it is, larger than allowed."""


async def read_body(request: Request, most_bytes: int, most_seconds: float, take: Callable[[int], None]) -> bytes:
    """Return the body; ``take`` hears of every piece and may refuse it.

    Raises BodyTooLarge, before anything is read if the length is told, TimeoutError, and ClientDisconnect.
    """
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told) > most_bytes:
        raise BodyTooLarge
    pieces, size = [], 0
    async with asyncio.timeout(most_seconds):
        async for piece in request.stream():
            size += len(piece)
            if size > most_bytes:
                raise BodyTooLarge
            take(len(piece))
            pieces.append(piece)
    return b"".join(pieces)
