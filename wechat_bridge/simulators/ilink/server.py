"""The HTTP side of the simulated server: requests in, answers or scripted faults out, connections watched."""

from __future__ import annotations

import asyncio

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from wechat_bridge.simulators.control_api import CONTROL_PREFIX
from wechat_bridge.simulators.ilink import wire
from wechat_bridge.simulators.ilink.bot import Batch, Bot
from wechat_bridge.simulators.ilink.call import Answer, Call
from wechat_bridge.simulators.ilink.control import CONTROL
from wechat_bridge.simulators.ilink.endpoints import Endpoint, find_endpoint, read_call
from wechat_bridge.simulators.ilink.script import ScriptedAnswer
from wechat_bridge.simulators.ilink.sending import record_scripted
from wechat_bridge.simulators.ilink.updates import open_poll
from wechat_bridge.simulators.ilink.world import World


class IlinkServer(web.Server):
    """An aiohttp low-level server (no routing, no middleware: 1,000 held polls must cost next to nothing)."""

    def __init__(self, world: World) -> None:
        super().__init__(self._handle, access_log=None)
        self._world = world
        self._calls: dict[RequestHandler, Call] = {}
        # The batch last written to a connection, until something shows that the client read it.
        self._unread: dict[RequestHandler, tuple[Bot, Batch]] = {}
        self._closing = False

    def refuse_connections(self) -> None:
        """Reset every connection made from now on: one accepted while the server stops would never be served."""
        self._closing = True

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        """Take a new connection, unless the server is stopping."""
        super().connection_made(handler, transport)
        if self._closing:
            transport.abort()

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        """Wake the request that waits on this connection, and note a batch that was never read.

        A reset after the answer means that the client died with unread bytes; a client that had read them closes
        without one.
        """
        if call := self._calls.pop(handler, None):
            call.note_client_closed()
        unread = self._unread.pop(handler, None)
        if unread and isinstance(exc, ConnectionResetError):
            unread[0].lose(unread[1], "connection reset before the answer was read")
        super().connection_lost(handler, exc)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path.startswith(CONTROL_PREFIX):
            return await CONTROL.answer(self._world, request)
        endpoint = find_endpoint(request.path)
        if endpoint is None:
            return web.Response(status=404, text="no such endpoint")
        protocol = request.protocol
        self._unread.pop(protocol, None)
        try:
            call, refusal = await read_call(self._world, endpoint, request)
        except ConnectionError:
            # The client left in the middle of its request, so that there is nobody to answer.
            return web.Response()
        self._calls[protocol] = call
        call.client_closed = request.transport is None
        try:
            await self._serve(endpoint, call, refusal)
        finally:
            self._calls.pop(protocol, None)
            call.end_poll()
        # An answer written by hand has closed its connection, so that this empty one goes nowhere.
        return call.response or web.Response()

    async def _serve(self, endpoint: Endpoint, call: Call, refusal: Answer | None) -> None:
        if refusal is None and endpoint.name == "getupdates":
            call.poll = open_poll(call)
        answer: Answer | None = None
        while answer is None:
            if entry := self._world.script.take(endpoint.name, call.bot):
                await self._play(endpoint, call, refusal, entry)
                return
            answer = refusal or await endpoint.answer(self._world, call)
        self._note_written(call, answer, await wire.write_answer(call, answer))

    async def _play(self, endpoint: Endpoint, call: Call, refusal: Answer | None, entry: ScriptedAnswer) -> None:
        call.scripted = True
        if call.poll:
            call.poll.outcome = "scripted"
        answer = await self._scripted_answer(endpoint, call, refusal, entry)
        batch, replacement = answer.batch, entry.own_answer()
        if entry.hang:
            await wire.hang(call)
            written = False
        elif entry.cut:
            wire.cut(call)
            written = False
        else:
            shown = replacement or Answer(
                answer.body, entry.status or answer.status, {**answer.headers, **entry.headers}
            )
            written = await wire.write_scripted(call, shown, entry) and not replacement
        self._note_written(call, Answer(batch=batch), written)

    async def _scripted_answer(
        self, endpoint: Endpoint, call: Call, refusal: Answer | None, entry: ScriptedAnswer
    ) -> Answer:
        if not entry.process:
            await wire.pause(call, entry.delay_seconds)
        answer = refusal
        if answer is None and entry.processes_request:
            answer = await endpoint.answer(self._world, call)
        elif endpoint.name == "sendmessage" and call.bot:
            record_scripted(self._world, call)
        if entry.process:
            await wire.pause(call, entry.delay_seconds)
        return answer or Answer()

    def _note_written(self, call: Call, answer: Answer, written: bool) -> None:
        if answer.batch is None or call.bot is None:
            return
        if not written:
            call.bot.lose(answer.batch, "written to a dead connection")
        elif call.request.transport is not None:
            self._unread[call.request.protocol] = (call.bot, answer.batch)
