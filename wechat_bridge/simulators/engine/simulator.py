"""Running the simulated engine: inside an event loop, or in a thread of this process."""

from __future__ import annotations

import asyncio
from functools import partial

from aiohttp import web

from wechat_bridge.simulators.engine.script import ScriptedReply
from wechat_bridge.simulators.engine.server import application
from wechat_bridge.simulators.engine.world import EngineOptions, Fetched, RecordedCall, World
from wechat_bridge.simulators.running import HOST, ServerThread

NAME = "engine"
BACKLOG = 1_024


async def serve(port: int, world: World, stop: asyncio.Event, listening: asyncio.Future[str]) -> None:
    """Serve on 127.0.0.1 until `stop` is set; `listening` gets the base URL. Port 0 picks a free one.

    Raises:
        OSError: the port is taken.
    """
    runner = web.AppRunner(application(world), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port, backlog=BACKLOG).start()
        listening.set_result(f"http://{HOST}:{runner.addresses[0][1]}")
        await stop.wait()
    finally:
        await runner.cleanup()


class EngineSimulator(ServerThread):
    """The simulated engine in a thread of this process; a context manager.

    >>> with EngineSimulator() as engine:
    ...     engine.script(text="你好")
    """

    def __init__(self, options: EngineOptions | None = None, port: int = 0) -> None:
        self._world = World(options or EngineOptions())
        super().__init__(NAME, partial(serve, port, self._world))

    @property
    def calls(self) -> list[RecordedCall]:
        """Everything that was asked since the last `clear`."""
        return self._world.calls

    @property
    def fetched(self) -> list[Fetched]:
        """Everything that was fetched from links since the last `clear`."""
        return self._world.fetched

    def script(self, reply: ScriptedReply | None = None, **fields: object) -> None:
        """Append a scripted reply: one that is given, or one of these fields."""
        self._world.add(reply or ScriptedReply.model_validate(fields))

    def clear(self) -> None:
        """Forget script, calls and conversations."""
        self._world.clear()
