"""What stands between WeCom and the web processes: connections go to each in turn, past those that are not there.

It knows nothing of HTTP. A process that is frozen takes its connections, a killed one breaks them: WeCom sees both.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Sequence
from itertools import count
from types import TracebackType
from typing import Self

HOST = "127.0.0.1"
PIECE = 65_536


class Front:
    """Listens on a port of its own, in a thread; a context manager."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = ports
        self._numbers = count()
        self._loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()
        self._up = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),), name="front")

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._up.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()
        self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._pass, HOST, 0)
        self.port: int = server.sockets[0].getsockname()[1]
        self._up.set()
        await self._ending.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found = await self._connected()
        if found is not None:
            there_reader, there_writer = found
            ways = (_copy(reader, there_writer), _copy(there_reader, writer))
            tasks = [asyncio.ensure_future(way) for way in ways]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                there_writer.close()
        writer.close()

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        first = next(self._numbers)
        for number in range(len(self._ports)):
            with contextlib.suppress(OSError):
                return await asyncio.open_connection(HOST, self._ports[(first + number) % len(self._ports)])
        return None


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
