"""No answer at all, under uvicorn and under a server that lets nobody at its connection."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import MutableMapping
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from wechat_bridge.local.ports import free_port
from wechat_bridge.web.unanswered import Unanswered

REQUEST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"


async def _raw_answer(http: str) -> bytes:
    """What a raw socket reads from uvicorn until the connection ends."""

    async def drop(_: Request) -> Unanswered:
        return Unanswered()

    app = Starlette(routes=[Route("/", drop, methods=["POST"])])
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, http=http, log_config=None, lifespan="off"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        return await asyncio.wait_for(asyncio.to_thread(_ask, port), 10)
    finally:
        server.should_exit = True
        await serving


def _ask(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.sendall(REQUEST)
        try:
            return connection.recv(1000)
        except ConnectionResetError:
            return b""


def test_uvicorn_ends_the_connection_without_a_byte_and_without_an_error(caplog: pytest.LogCaptureFixture) -> None:
    assert asyncio.run(_raw_answer("h11")) == b""
    assert [record.message for record in caplog.records if record.levelname in {"ERROR", "WARNING"}] == []


def test_elsewhere_nothing_is_said_until_the_client_gives_up() -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def run() -> None:
        gives_up = asyncio.Event()

        async def receive() -> MutableMapping[str, Any]:
            await gives_up.wait()
            return {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        answering = asyncio.create_task(Unanswered()({"type": "http"}, receive, send))
        await asyncio.sleep(0.05)
        assert not answering.done()
        gives_up.set()
        await asyncio.wait_for(answering, 5)

    asyncio.run(run())
    assert sent == []
