"""The HTTP side of the simulated server: calls in, answers or scripted faults out."""

from __future__ import annotations

import asyncio
import json
from functools import partial

from aiohttp import BodyPartReader, web

from wechat_bridge.simulators.control_api import CONTROL_PREFIX
from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom import api
from wechat_bridge.simulators.wecom.backstage import Backstage
from wechat_bridge.simulators.wecom.call import Answer, Call, UploadedFile
from wechat_bridge.simulators.wecom.codes import MESSAGES, ApiError, refusal
from wechat_bridge.simulators.wecom.control import CONTROL
from wechat_bridge.simulators.wecom.control_kf import ring
from wechat_bridge.simulators.wecom.script import ScriptedAnswer
from wechat_bridge.simulators.wecom.world import World

MOST_REQUEST_BYTES = 64 * 1024 * 1024
JSON_TYPE = "application/json; charset=UTF-8"


class WecomServer:
    """Serves one world."""

    def __init__(self, stage: Backstage) -> None:
        self._stage = stage

    @property
    def _world(self) -> World:
        return self._stage.world

    def application(self) -> web.Application:
        """The aiohttp application."""
        app = web.Application(client_max_size=MOST_REQUEST_BYTES)
        app.router.add_route("*", CONTROL_PREFIX + "{name}", partial(CONTROL.answer, self._stage))
        app.router.add_get("/pic/{media_id}", self._picture)
        for name, endpoint in api.ENDPOINTS.items():
            app.router.add_route("*", api.PREFIX + name, partial(self._serve, endpoint))
        return app

    async def _picture(self, request: web.Request) -> web.Response:
        media = self._world.media.picture(request.match_info["media_id"])
        if media is None:
            return web.Response(status=404)
        return web.Response(body=media.data, content_type="image/jpeg")

    async def _serve(self, endpoint: api.Endpoint, request: web.Request) -> web.StreamResponse:
        call = await self._read(request)
        owner = self._world.tokens.owner(call.query.get("access_token", ""))
        key = owner.partition(":")[0], call.path
        self._world.open_calls[key] += 1
        try:
            return await self._answer(endpoint, request, call, owner)
        finally:
            self._world.open_calls[key] -= 1

    async def _answer(self, endpoint: api.Endpoint, request: web.Request, call: Call, owner: str) -> web.StreamResponse:
        entry = self._world.script.take(call.path, owner)
        answer = self._processed(endpoint, call) if entry is None or entry.processes_call else None
        if self._world.options.call_seconds:
            await asyncio.sleep(self._world.options.call_seconds)
        if entry is None:
            self._record(call, answer, scripted=False)
            return response(answer or {})
        return await self._play(request, call, entry, answer)

    def _processed(self, endpoint: api.Endpoint, call: Call) -> Json | Answer:
        try:
            answer = api.answer(endpoint, call)
        except ApiError as error:
            return refusal(error.errcode, call.source_ip, error.detail)
        return answer if isinstance(answer, Answer) else {"errcode": 0, "errmsg": MESSAGES[0], **answer}

    async def _play(
        self, request: web.Request, call: Call, entry: ScriptedAnswer, processed: Json | Answer | None
    ) -> web.StreamResponse:
        shown: Json | Answer = processed or {}
        if entry.errcode is not None:
            shown = refusal(entry.errcode, call.source_ip)
            shown["errmsg"] = entry.errmsg or shown["errmsg"]
        if entry.answer is not None:
            shown = entry.answer
        if entry.body is not None:
            shown = Answer(entry.body.encode(), {"Content-Type": "text/html; charset=utf-8"})
        silent = entry.hang or entry.cut
        self._record(call, None if silent else shown, scripted=True)
        await asyncio.sleep(entry.delay_seconds)
        if entry.hang:
            await gone(request)
        if silent:
            return abort(request)
        return await write(request, response(shown, entry), entry.cut_after_bytes)

    def _record(self, call: Call, answer: Json | Answer | None, scripted: bool) -> None:
        errcode = answer.get("errcode", 0) if isinstance(answer, dict) else None if answer is None else 0
        self._world.record_call(call.as_json(errcode, scripted))

    async def _read(self, request: web.Request) -> Call:
        options = self._world.options
        forwarded = request.headers.get("X-Forwarded-For", "").partition(",")[0].strip()
        source_ip = options.source_ip or forwarded or request.remote or ""
        headers = {name.lower(): value for name, value in request.headers.items()}
        doorbell = partial(ring, self._stage)
        call = Call(self._world, doorbell, request.method, request.path, dict(request.query), headers, source_ip)
        if request.content_type == "multipart/form-data":
            call.file = await uploaded(request)
        else:
            call.data = await request.read()
        return call


async def uploaded(request: web.Request) -> UploadedFile | None:
    """The part named ``media`` of a multipart body, if there is one."""
    async for part in await request.multipart():
        if isinstance(part, BodyPartReader) and part.name == "media":
            kind = part.headers.get("Content-Type", "application/octet-stream")
            return UploadedFile(part.filename or "", kind, bytes(await part.read(decode=False)))
    return None


def response(answer: Json | Answer, entry: ScriptedAnswer | None = None) -> web.Response:
    """HTTP 200 for refusals too; the code stands in headers besides."""
    status, headers = (entry.status, entry.headers) if entry else (200, {})
    if isinstance(answer, Answer):
        return web.Response(
            body=answer.data, status=answer.status if status == 200 else status, headers={**answer.headers, **headers}
        )
    codes = {"Error-Code": str(answer.get("errcode", 0)), "Error-Msg": str(answer.get("errmsg", ""))}
    body = json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return web.Response(body=body, status=status, headers={"Content-Type": JSON_TYPE, **codes, **headers})


async def write(request: web.Request, whole: web.Response, cut_after_bytes: int | None) -> web.StreamResponse:
    """Write an answer, whole or broken off."""
    if cut_after_bytes is None or not isinstance(whole.body, bytes):
        return whole
    broken = web.StreamResponse(status=whole.status, headers=whole.headers)
    broken.content_length = len(whole.body)
    await broken.prepare(request)
    await broken.write(whole.body[:cut_after_bytes])
    if request.transport is not None:
        request.transport.close()
    return broken


def abort(request: web.Request) -> web.Response:
    """Drop the connection without a word."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def gone(request: web.Request) -> None:
    """Wait until nobody waits for the answer any more."""
    while request.transport is not None and not request.transport.is_closing():
        await asyncio.sleep(0.05)
