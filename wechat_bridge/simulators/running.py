"""Running a simulated server: in a thread of this process, or as a process of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Self

from pydantic import BaseModel

HOST = "127.0.0.1"
# How long a start may take before it counts as failed.
START_SECONDS = 20.0
STOP_SECONDS = 10.0
# How a switch is turned off on the command line.
NONE = "none"


Serve = Callable[[asyncio.Event, "asyncio.Future[str]"], Coroutine[None, None, None]]
"""Serves on HOST until the event is set; the future gets the base URL. Raises OSError when the port is taken."""


def listening_line(name: str) -> str:
    """What the command of a simulator prints before the base URL once it listens."""
    return f"{name} simulator listening on "


class ServerThread:
    """A server in a thread of this process; a context manager."""

    def __init__(self, name: str, serve: Serve) -> None:
        self._name = name
        self._serve = serve
        self._thread = threading.Thread(target=self._run, name=f"{name}-simulator", daemon=True)
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
            raise TimeoutError(f"the {self._name} simulator did not listen within {START_SECONDS:.0f} s")
        if self._error:
            raise self._error
        return self

    def stop(self) -> None:
        """Close every connection and end the thread."""
        if self._loop and self._stop and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(STOP_SECONDS)

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
        await self._serve(self._stop, listening)

    def _note_listening(self, listening: asyncio.Future[str]) -> None:
        if not listening.cancelled():
            self.base_url = listening.result()
            self._ready.set()


class ServerProcess:
    """A server as a process of its own, for benchmarks; used like the one in a thread."""

    def __init__(self, name: str, options: BaseModel, port: int = 0) -> None:
        changes = options.model_dump(exclude_defaults=True)
        switches = [f"--{key.replace('_', '-')}={NONE if value is None else value}" for key, value in changes.items()]
        self._name = name
        self._command = [sys.executable, "-m", "wechat_bridge.simulators", name, f"--port={port}", *switches]
        self.base_url = ""

    def start(self) -> Self:
        """Start the process; returns once it listens.

        Raises:
            RuntimeError: the process ended or said something else first; its own message is on stderr.
        """
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line.startswith(listening_line(self._name)):
            self._end()
            raise RuntimeError(f"the {self._name} simulator did not start (it printed {line!r}); see its message above")
        self.base_url = line.removeprefix(listening_line(self._name)).strip()
        return self

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def stop(self) -> int:
        """End the process with SIGTERM; returns its exit status."""
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
