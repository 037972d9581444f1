"""Running the simulated server: inside an event loop, in a thread of this process, or as a process of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from typing import Self

from aiohttp import web

from wechat_bridge.simulators.wecom.backstage import Backstage
from wechat_bridge.simulators.wecom.client import WecomControl
from wechat_bridge.simulators.wecom.options import WecomOptions
from wechat_bridge.simulators.wecom.sender import CallbackSender
from wechat_bridge.simulators.wecom.server import WecomServer
from wechat_bridge.simulators.wecom.world import World

HOST = "127.0.0.1"
BACKLOG = 1_024
# How long a start may take before it counts as failed.
START_SECONDS = 20.0
STOP_SECONDS = 10.0
# How a switch is turned off on the command line.
NONE = "none"
LISTENING = "wecom simulator listening on "


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


class WecomSimulator:
    """The simulated server in a thread of this process; a context manager.

    >>> with WecomSimulator() as simulator:
    ...     app = simulator.control.create_app(callback_url="http://127.0.0.1:8000/wecom/demo")
    """

    def __init__(self, options: WecomOptions | None = None, port: int = 0) -> None:
        self._options = options or WecomOptions()
        self._port = port
        self._thread = threading.Thread(target=self._run, name="wecom-simulator", daemon=True)
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._error: OSError | None = None
        self.base_url = ""

    def start(self) -> Self:
        """Start to listen; returns once it does.

        Raises:
            OSError: the port is taken.
            TimeoutError: the server did not listen in time.
        """
        self._thread.start()
        if not self._ready.wait(START_SECONDS):
            raise TimeoutError(f"the WeCom simulator did not listen within {START_SECONDS:.0f} s")
        if self._error:
            raise self._error
        self.control = WecomControl(self.base_url)
        return self

    def stop(self) -> None:
        """Close every connection and end the thread."""
        if self._loop and self._stop and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(STOP_SECONDS)
        self.control.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

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
        await serve(self._port, self._options, self._stop, listening)

    def _note_listening(self, listening: asyncio.Future[str]) -> None:
        if not listening.cancelled():
            self.base_url = listening.result()
            self._ready.set()


class WecomSimulatorProcess:
    """The simulated server as a process of its own, for benchmarks; used like `WecomSimulator`."""

    def __init__(self, options: WecomOptions | None = None, port: int = 0) -> None:
        changes = (options or WecomOptions()).model_dump(exclude_defaults=True)
        switches = [f"--{name.replace('_', '-')}={NONE if value is None else value}" for name, value in changes.items()]
        self._command = [sys.executable, "-m", "wechat_bridge.simulators", "wecom", f"--port={port}", *switches]
        self.base_url = ""

    def start(self) -> Self:
        """Start the process; returns once it listens.

        Raises:
            RuntimeError: the process ended or said something else first; its own message is on stderr.
        """
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line.startswith(LISTENING):
            self._end()
            raise RuntimeError(f"the WeCom simulator did not start (it printed {line!r}); see its message above")
        self.base_url = line.removeprefix(LISTENING).strip()
        self.control = WecomControl(self.base_url)
        return self

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def stop(self) -> int:
        """End the process with SIGTERM; returns its exit status."""
        self.control.close()
        return self._end()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _end(self) -> int:
        self._process.terminate()
        try:
            return self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
        finally:
            if self._process.stdout:
                self._process.stdout.close()
