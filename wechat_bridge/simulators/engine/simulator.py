"""Running the simulated engine: inside an event loop, or in a thread of this process."""

from __future__ import annotations

import asyncio
import threading
from typing import Self

from aiohttp import web

from wechat_bridge.simulators.engine.script import ScriptedReply
from wechat_bridge.simulators.engine.server import application
from wechat_bridge.simulators.engine.world import EngineOptions, Fetched, RecordedCall, World

HOST = "127.0.0.1"
BACKLOG = 1_024
START_SECONDS = 20.0
STOP_SECONDS = 10.0
LISTENING = "engine simulator listening on "


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


class EngineSimulator:
    """The simulated engine in a thread of this process; a context manager.

    >>> with EngineSimulator() as engine:
    ...     engine.script(text="你好")
    """

    def __init__(self, options: EngineOptions | None = None, port: int = 0) -> None:
        self._world = World(options or EngineOptions())
        self._port = port
        self._thread = threading.Thread(target=self._run, name="engine-simulator", daemon=True)
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._error: OSError | None = None
        self.base_url = ""

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

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(START_SECONDS):
            raise TimeoutError(f"the engine simulator did not listen within {START_SECONDS:.0f} s")
        if self._error:
            raise self._error
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop and self._stop and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except OSError as error:
            self._error = error
        finally:
            self._ready.set()

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        listening: asyncio.Future[str] = self._loop.create_future()
        listening.add_done_callback(self._note_listening)
        await serve(self._port, self._world, self._stop, listening)

    def _note_listening(self, listening: asyncio.Future[str]) -> None:
        if not listening.cancelled():
            self.base_url = listening.result()
            self._ready.set()
