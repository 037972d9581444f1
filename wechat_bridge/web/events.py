"""``POST /events``, ``/events/{type}`` and ``/events/ws``: events of any source that has an API key."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect

from wechat_bridge.errors import EventRefused
from wechat_bridge.flow.later import Later
from wechat_bridge.gateway.api_keys import holder_of, may_send
from wechat_bridge.gateway.batch import split
from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.incoming import Incoming
from wechat_bridge.gateway.ingest import ingest_many
from wechat_bridge.model.event import EventSource, Receipt, Status
from wechat_bridge.model.event_rules import ApiKey
from wechat_bridge.web.after_answer import AfterAnswer
from wechat_bridge.web.body import BodyTooLarge, read_body
from wechat_bridge.web.room import NoRoom, Room

router = APIRouter()

BODY_SECONDS = 15.0
MOST_DOORBELLS = 10_000
RETRY_SECONDS = "2"
KEY_SECONDS = 5.0
POLICY_VIOLATION, TRY_AGAIN_LATER = 1008, 1013
"""Codes by which a WebSocket is closed (RFC 6455, 7.4.1 and its registry)."""

ALWAYS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
TAKEN = frozenset({Status.ACCEPTED, Status.DUPLICATE, Status.SKIPPED})


class EventDesk:
    """The events of this process, and how much of them may be under way. Beyond that their sender is to wait."""

    def __init__(self, gateway: Gateway) -> None:
        self.later = Later(MOST_DOORBELLS)
        self.gateway = replace(gateway, doorbells=AfterAnswer(gateway.doorbells, self.later))
        self.room = Room(most_requests=500, most_bytes=256 * 1024 * 1024, threads=16)


@router.post("/events")
async def receive(request: Request) -> Response:
    """Take an event whose type stands in it, or a batch of such: see ``receive_typed``."""
    return await receive_typed("", request)


@router.post("/events/{event_type}")
async def receive_typed(event_type: str, request: Request) -> Response:
    """Take an event, or a batch: a JSON array, or JSON Lines.

    202 once it is durable, 200 when it was known already or goes nowhere on purpose, 400, 413 and 415 for what is
    wrong with it, 503 to send it again. A batch: 200 when all was taken, else 207, with a receipt for each.
    """
    desk: EventDesk = request.app.state.events
    holder = _holder(desk, request.headers)
    if holder is None:
        return _said(
            401,
            "no API key, or one that is good for nothing: Authorization: Bearer ...",
            {"WWW-Authenticate": "Bearer"},
        )
    try:
        with desk.room.enter() as place:
            limits = desk.gateway.rules().limits
            body = await read_body(request, limits.most_bytes, BODY_SECONDS, place.take)
            content_type = request.headers.get("content-type", "")
            work = partial(_taken, desk.gateway, holder, body, content_type, dict(request.headers.items()), event_type)
            return await desk.room.run(work)
    except BodyTooLarge:
        return _said(413, "the body is larger than limits.most_bytes")
    except NoRoom:
        return _said(503, "too many events are under way; send it again", {"Retry-After": RETRY_SECONDS})
    except (TimeoutError, ClientDisconnect):
        return _said(408, "the body did not come in time")


@router.websocket("/events/ws")
async def converse(socket: WebSocket) -> None:
    """Take an event with each frame, and answer each with its receipt, in order.

    The API key stands in the header of the handshake, or is the first frame: ``{"key": "..."}``. ``type`` and
    ``content_type`` in the query are those of all frames; without the latter text is JSON, and bytes are binary.
    """
    desk: EventDesk = socket.app.state.events
    await socket.accept()
    holder = _holder(desk, socket.headers) or await _introduced(desk, socket)
    if holder is None:
        await socket.close(POLICY_VIOLATION, "no API key")
        return
    event_type, content_type = (socket.query_params.get(name, "") for name in ("type", "content_type"))
    try:
        while True:
            frame = await socket.receive()
            if frame["type"] == "websocket.disconnect":
                return
            is_text = frame.get("text") is not None
            raw = frame["text"].encode("utf-8", "surrogatepass") if is_text else frame["bytes"]
            stated = content_type or ("application/json" if is_text else "application/octet-stream")
            await socket.send_json(await _answered(desk, holder, raw, stated, event_type))
    except WebSocketDisconnect:
        return
    except NoRoom:
        await socket.close(TRY_AGAIN_LATER, "too many events are under way")


async def _answered(desk: EventDesk, holder: ApiKey, raw: bytes, content_type: str, event_type: str) -> Any:
    with desk.room.enter() as place:
        place.take(len(raw))
        incoming = Incoming(EventSource.WEBSOCKET, content_type, raw, {}, event_type)
        [receipt] = await desk.room.run(partial(_ingested, desk.gateway, holder, [incoming]))
        return _shown(receipt)


async def _introduced(desk: EventDesk, socket: WebSocket) -> ApiKey | None:
    try:
        async with asyncio.timeout(KEY_SECONDS):
            said = await socket.receive_json()
    except (TimeoutError, ValueError, KeyError, WebSocketDisconnect):
        return None
    key = said.get("key") if isinstance(said, dict) else None
    return holder_of(desk.gateway.rules(), key) if isinstance(key, str) else None


def _holder(desk: EventDesk, headers: Headers) -> ApiKey | None:
    scheme, _, key = headers.get("authorization", "").partition(" ")
    given = key.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
    return holder_of(desk.gateway.rules(), given) if given else None


def _taken(
    gateway: Gateway, holder: ApiKey, body: bytes, content_type: str, headers: Mapping[str, str], event_type: str
) -> Response:
    try:
        parts = split(body, content_type, gateway.rules().limits)
    except EventRefused as error:
        return _said(error.status, str(error))
    if parts is None:
        [receipt] = _ingested(gateway, holder, [Incoming(EventSource.HTTP, content_type, body, headers, event_type)])
        wait = {"Retry-After": RETRY_SECONDS} if receipt.status is Status.UNAVAILABLE else {}
        return JSONResponse(_shown(receipt), receipt.http_status, ALWAYS | wait)
    many = [Incoming(EventSource.HTTP, "application/json", part, headers, event_type) for part in parts]
    receipts = _ingested(gateway, holder, many)
    is_taken = all(receipt.status in TAKEN for receipt in receipts)
    return JSONResponse({"results": list(map(_shown, receipts))}, 200 if is_taken else 207, ALWAYS)


def _ingested(gateway: Gateway, holder: ApiKey, incoming: list[Incoming]) -> list[Receipt]:
    """Take events as far as the key is good for them: what it is not good for is like a type that nobody knows."""
    return ingest_many(gateway, incoming, may_send=partial(may_send, holder))


def _shown(receipt: Receipt) -> dict[str, Any]:
    shown = receipt.model_dump(mode="json", exclude={"http_status"})
    return {name: value for name, value in shown.items() if value not in ("", [])}


def _said(status: int, error: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"status": "rejected" if status < 500 else "unavailable", "error": error}, status,
                        ALWAYS | dict(headers or {}))  # fmt: skip
