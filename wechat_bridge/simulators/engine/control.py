"""The control API beside the dialects, for a simulated engine in a process of its own."""

from __future__ import annotations

from typing import Any

from aiohttp import web
from pydantic import ValidationError

from wechat_bridge.simulators.engine.script import ScriptedReply
from wechat_bridge.simulators.engine.world import World


def add_control(app: web.Application, world: World) -> None:
    """Add `POST /control/script`, `GET /control/calls` and `POST /control/clear`."""

    async def script(request: web.Request) -> web.Response:
        try:
            world.add(ScriptedReply.model_validate_json(await request.read()))
        except ValidationError as error:
            return web.json_response({"error": str(error)}, status=400)
        return _done()

    async def calls(request: web.Request) -> web.Response:
        return web.json_response([call.as_json() for call in world.calls])

    async def clear(request: web.Request) -> web.Response:
        world.clear()
        return _done()

    app.router.add_post("/control/script", script)
    app.router.add_get("/control/calls", calls)
    app.router.add_post("/control/clear", clear)


def _done() -> web.Response:
    answer: dict[str, Any] = {"ok": True}
    return web.json_response(answer)
