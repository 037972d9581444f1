"""Running the simulated server: inside an event loop, in a thread of this process, or as a process of its own."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Self

from aiohttp import web

from wechat_bridge.simulators.running import HOST, ServerProcess, ServerThread
from wechat_bridge.simulators.wecom.backstage import Backstage
from wechat_bridge.simulators.wecom.client import WecomControl
from wechat_bridge.simulators.wecom.options import WecomOptions
from wechat_bridge.simulators.wecom.sender import CallbackSender
from wechat_bridge.simulators.wecom.server import WecomServer
from wechat_bridge.simulators.wecom.world import World

NAME = "wecom"
BACKLOG = 1_024


async def serve(port: int, options: WecomOptions, stop: asyncio.Event, listening: asyncio.Future[str]) -> None:
    """Serve on 127.0.0.1 until `stop` is set; `listening` gets the base URL. Port 0 picks a free one.

    Raises:
        OSError: the port is taken.
    """
    world = World(options)
    stage = Backstage(world, CallbackSender(world))
    runner = web.AppRunner(WecomServer(stage).application(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, port, backlog=BACKLOG).start()
        world.base_url = f"http://{HOST}:{runner.addresses[0][1]}"
        listening.set_result(world.base_url)
        await stop.wait()
    finally:
        await stage.sender.close()
        await runner.cleanup()


class WecomSimulator(ServerThread):
    """The simulated server in a thread of this process; a context manager.

    >>> with WecomSimulator() as simulator:
    ...     app = simulator.control.create_app(callback_url="http://127.0.0.1:8000/wecom/demo")
    """

    def __init__(self, options: WecomOptions | None = None, port: int = 0) -> None:
        super().__init__(NAME, partial(serve, port, options or WecomOptions()))

    def start(self) -> Self:
        """Start to listen; see `ServerThread`."""
        super().start()
        self.control = WecomControl(self.base_url)
        return self

    def stop(self) -> None:
        """Close every connection and end the thread."""
        super().stop()
        self.control.close()


class WecomSimulatorProcess(ServerProcess):
    """The simulated server as a process of its own, for benchmarks; used like `WecomSimulator`."""

    def __init__(self, options: WecomOptions | None = None, port: int = 0) -> None:
        super().__init__(NAME, options or WecomOptions(), port)

    def start(self) -> Self:
        """Start the process; see `ServerProcess`."""
        super().start()
        self.control = WecomControl(self.base_url)
        return self

    def stop(self) -> int:
        """End the process with SIGTERM; returns its exit status."""
        self.control.close()
        return super().stop()
