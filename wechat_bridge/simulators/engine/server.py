"""The HTTP side of the simulated engine: requests in, answers or scripted faults out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from aiohttp import web

from wechat_bridge.simulators.engine.control import add_control
from wechat_bridge.simulators.engine.dialect import Asked, Dialect, Json, Refused, json_text
from wechat_bridge.simulators.engine.dify import DifyDialect, upload
from wechat_bridge.simulators.engine.fastgpt import FastGptDialect
from wechat_bridge.simulators.engine.fetching import fetch_all
from wechat_bridge.simulators.engine.openai import OpenAiDialect
from wechat_bridge.simulators.engine.script import ScriptedReply
from wechat_bridge.simulators.engine.webhook import WebhookDialect
from wechat_bridge.simulators.engine.world import RecordedCall, World

MOST_REQUEST_BYTES = 64 * 1024 * 1024
DIALECTS: tuple[Dialect, ...] = (OpenAiDialect(), FastGptDialect(), DifyDialect(), WebhookDialect())
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(world: World) -> web.Application:
    """Return the server of a world."""
    app = web.Application(client_max_size=MOST_REQUEST_BYTES)
    for dialect in DIALECTS:
        handler: Handler = partial(_answer, world, dialect)
        app.router.add_post(dialect.path, handler)
    app.router.add_post("/v1/files/upload", partial(upload, world))
    add_control(app, world)
    return app


async def _answer(world: World, dialect: Dialect, request: web.Request) -> web.StreamResponse:
    call = await recorded(world, dialect.name, request)
    reply = world.take()
    if reply.hang:
        await _gone(request)
        return web.Response()
    if dialect.has_key and world.options.key and call.headers.get("authorization") != f"Bearer {world.options.key}":
        return await _write(request, reply, _refusal(dialect.failure(401, None, "wrong key")))
    if reply.own_body is not None:
        kind = "text/html" if reply.own_body.lstrip().startswith(b"<") else "application/json"
        return await _write(request, reply, (reply.status or 200, kind, [reply.own_body]))
    if reply.status is not None and reply.status != 200:
        return await _write(request, reply, _refusal(dialect.failure(reply.status, reply.code, reply.message)))
    asked = dialect.read(world, call)
    if isinstance(asked, Refused):
        return await _write(request, reply, _refusal(asked))
    try:
        await fetch_all(world, asked.links)
        return await _write(request, reply, _good(dialect, asked, reply))
    finally:
        world.busy.discard(asked.conversation)


async def recorded(world: World, name: str, request: web.Request) -> RecordedCall:
    """Read a request and note it."""
    data = await request.read()
    headers = {key.lower(): value for key, value in request.headers.items()}
    call = RecordedCall(name, request.path, headers, _object(data), data)
    world.record(call)
    return call


def _object(data: bytes) -> Json:
    try:
        value = json.loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


Content = tuple[int, str, Iterable[bytes]]
"""Status, media type and the pieces of a body."""


def _refusal(refused: Refused) -> Content:
    return refused.status, "application/json", [json_text(refused.body).encode()]


def _good(dialect: Dialect, asked: Asked, reply: ScriptedReply) -> Content:
    if asked.stream:
        return 200, "text/event-stream", dialect.stream(asked, reply)
    return 200, "application/json", [json_text(dialect.whole(asked, reply)).encode()]


async def _write(request: web.Request, reply: ScriptedReply, content: Content) -> web.StreamResponse:
    status, kind, pieces = content
    await asyncio.sleep(reply.delay_seconds)
    response = web.StreamResponse(status=status, headers={"Content-Type": kind, **reply.headers})
    whole = list(pieces)
    if kind != "text/event-stream":
        response.content_length = sum(map(len, whole))
    try:
        await response.prepare(request)
        await _write_pieces(request, response, reply, whole)
        await response.write_eof()
    except ConnectionError:  # the client has had enough
        return response
    return response


async def _write_pieces(
    request: web.Request, response: web.StreamResponse, reply: ScriptedReply, pieces: list[bytes]
) -> None:
    if reply.cut_after_bytes is not None:
        await response.write(b"".join(pieces)[: reply.cut_after_bytes])
        if request.transport is not None:
            request.transport.close()
        raise ConnectionResetError
    for piece in pieces:
        await asyncio.sleep(reply.piece_seconds)
        if not reply.drip_seconds:
            await response.write(piece)
            continue
        for byte in piece:
            await response.write(bytes([byte]))
            await asyncio.sleep(reply.drip_seconds)


async def _gone(request: web.Request) -> None:
    """Wait until nobody waits for the answer any more."""
    while request.transport is not None and not request.transport.is_closing():
        await asyncio.sleep(0.05)
