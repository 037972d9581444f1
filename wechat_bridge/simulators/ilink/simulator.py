"""Running the simulated server: inside an event loop, in a thread of this process, or as a process of its own."""

from __future__ import annotations

import asyncio
import resource
from functools import partial
from typing import Self

from aiohttp import web

from wechat_bridge.simulators.ilink.client import IlinkControl
from wechat_bridge.simulators.ilink.control_server import break_connections
from wechat_bridge.simulators.ilink.options import IlinkOptions
from wechat_bridge.simulators.ilink.server import IlinkServer
from wechat_bridge.simulators.ilink.world import World
from wechat_bridge.simulators.running import HOST, ServerProcess, ServerThread

NAME = "ilink"
# Thousands of clients may connect in the same moment.
BACKLOG = 4_096
OPEN_FILES = 65_536


async def serve(port: int, options: IlinkOptions, stop: asyncio.Event, listening: asyncio.Future[str]) -> None:
    """Serve on 127.0.0.1 until `stop` is set; `listening` gets the base URL. Port 0 picks a free one.

    Raises:
        OSError: the port is taken.
    """
    raise_open_file_limit()
    world = World(options)
    server = IlinkServer(world)
    runner = web.ServerRunner(server, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, HOST, port, backlog=BACKLOG)
        await site.start()
        world.base_url = f"http://{HOST}:{runner.addresses[0][1]}"
        listening.set_result(world.base_url)
        await stop.wait()
        server.refuse_connections()
        break_connections(world)
    finally:
        await runner.cleanup()


def raise_open_file_limit() -> None:
    """Allow enough connections: the usual soft limit of 1,024 files is too low for 1,000 polls."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class IlinkSimulator(ServerThread):
    """The simulated server in a thread of this process; a context manager.

    >>> with IlinkSimulator(IlinkOptions(hold_seconds=0.5)) as simulator:
    ...     bot = simulator.control.create_bot()
    """

    def __init__(self, options: IlinkOptions | None = None, port: int = 0) -> None:
        super().__init__(NAME, partial(serve, port, options or IlinkOptions()))

    def start(self) -> Self:
        """Start to listen; see `ServerThread`."""
        super().start()
        self.control = IlinkControl(self.base_url)
        return self

    def stop(self) -> None:
        """Close every connection and end the thread."""
        super().stop()
        self.control.close()


class IlinkSimulatorProcess(ServerProcess):
    """The simulated server as a process of its own, for benchmarks; used like `IlinkSimulator`."""

    def __init__(self, options: IlinkOptions | None = None, port: int = 0) -> None:
        super().__init__(NAME, options or IlinkOptions(), port)

    def start(self) -> Self:
        """Start the process; see `ServerProcess`."""
        super().start()
        self.control = IlinkControl(self.base_url)
        return self

    def stop(self) -> int:
        """End the process with SIGTERM; returns its exit status."""
        self.control.close()
        return super().stop()
