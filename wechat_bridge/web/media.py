"""``/media/{token}``: what a person sent, for the engine that was given the link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from urllib.parse import quote

from fastapi import APIRouter, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse, StreamingResponse

from wechat_bridge import wiring
from wechat_bridge.errors import LedgerUnavailable, MediaUnreadable
from wechat_bridge.flow.context import Bridge
from wechat_bridge.model.media import UNKNOWN_MIME, Media, MediaState, extension_of, label_of
from wechat_bridge.observe.logging import logger

router = APIRouter()
log = logger(__name__)

SHOWN = ("image/", "audio/", "video/")
"""Types that a browser may show in place; whatever could carry a script is only ever downloaded."""

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Referrer-Policy": "no-referrer",  # the address is the key
    "Accept-Ranges": "none",
}


@router.get("/media/{token}")
async def fetch(token: str) -> Response:
    """Send the bytes: 404 when there is nothing (any more) behind the link, 410 after its time, 503 to try again."""
    return await _answer(wiring.bridge(), token, with_body=True)


@router.head("/media/{token}")
async def look(token: str) -> Response:
    """Say type, size and name only; engines ask for them first."""
    return await _answer(wiring.bridge(), token, with_body=False)


async def _answer(bridge: Bridge, token: str, *, with_body: bool) -> Response:
    """Judge the link here, which takes microseconds; only a good one is worth a thread that waits for the ledger."""
    try:
        link = bridge.media_links.opened(token, bridge.clock.now())
        if link is None:
            return _said(404, "There is no such link.")
        if link.is_expired:
            log.info("media_link_expired", media_id=link.media_id)
            return _said(410, "The time of this link is over.")
        return await run_in_threadpool(_found, bridge, link.media_id, with_body)
    except LedgerUnavailable as error:
        log.warning("media_link_not_served", error=str(error))
        return _said(503, "The files cannot be read right now; try again.", {"Retry-After": "5"})


def _found(bridge: Bridge, media_id: str, with_body: bool) -> Response:
    """Return the answer to a good link. Raises LedgerUnavailable."""
    media = bridge.media.get(media_id)
    try:
        if media is not None and media.state is MediaState.STORED:
            return _sent(media, _begun(bridge, media)) if with_body else Response(headers=_headers(media))
    except MediaUnreadable as error:
        log.warning("media_link_leads_nowhere", media_id=media_id, error=str(error))
    return _said(404, "What this link led to has been removed.")


def _begun(bridge: Bridge, media: Media) -> Iterator[bytes]:
    """Return the pieces of a file, the first of which is there: what is missing is found before a status is sent."""
    pieces = bridge.media.pieces(media)
    return chain([next(pieces, b"")], pieces)


def _sent(media: Media, pieces: Iterator[bytes]) -> Response:
    log.info("media_link_used", media_id=media.id, size=media.size)
    return StreamingResponse(pieces, headers=_headers(media))


def _headers(media: Media) -> dict[str, str]:
    """Return the headers of a file. The type stands without a charset, which nobody knows here."""
    mime = media.mime if re.fullmatch(r"[a-z0-9.+-]+/[a-z0-9.+-]+", media.mime) else UNKNOWN_MIME
    is_shown = mime.startswith(SHOWN) and not mime.endswith("+xml")
    named = f'inline; filename="{_plain_name(media)}"' if is_shown else _download(media)
    return ALWAYS | {
        "Content-Type": mime,
        "Content-Length": str(media.size),
        "Content-Disposition": named,
        "Cache-Control": "private, max-age=300",
    }


def _plain_name(media: Media) -> str:
    return f"file.{extension_of(media.label, media.mime)}"


def _download(media: Media) -> str:
    """Return the header that has a file saved under its sender's name, in RFC 5987's form where it needs one."""
    label = label_of(media.label)
    if re.fullmatch(r"[A-Za-z0-9 ._-]+", label):
        return f'attachment; filename="{label}"'
    own = f"; filename*=UTF-8''{quote(label, safe='')}" if label else ""
    return f'attachment; filename="{_plain_name(media)}"{own}'


def _said(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(text, status, ALWAYS | {"Cache-Control": "no-store"} | (headers or {}))
