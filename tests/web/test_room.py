"""How much may be under way at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

import pytest

from wechat_bridge.web.room import NoRoom, Room


def in_loop(act: Coroutine[Any, Any, None]) -> None:
    """Run it in an event loop."""
    asyncio.run(act)


def test_who_finds_no_room_is_told_and_who_leaves_makes_some() -> None:
    async def act() -> None:
        room = Room(most_requests=2, most_bytes=10, threads=1)
        with room.enter():
            with room.enter(), pytest.raises(NoRoom), room.enter():
                pass
            with room.enter() as place:
                place.take(10)

    in_loop(act())


def test_bytes_count_until_their_request_has_ended_however_it_ends() -> None:
    async def act() -> None:
        room = Room(most_requests=2, most_bytes=10, threads=1)
        for _ in range(3):
            with room.enter() as one, room.enter() as other:
                one.take(6)
                with pytest.raises(NoRoom):
                    other.take(5)

    in_loop(act())


def test_what_blocks_runs_in_so_many_threads_and_the_loop_goes_on() -> None:
    running, most, lock, go_on = 0, 0, threading.Lock(), threading.Event()

    def block() -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        go_on.wait(10)
        with lock:
            running -= 1
        return "done"

    async def act() -> None:
        room = Room(most_requests=9, most_bytes=0, threads=3)
        under_way = [asyncio.create_task(room.run(block)) for _ in range(9)]
        while running < 3:
            await asyncio.sleep(0.01)
        go_on.set()
        assert await asyncio.gather(*under_way) == ["done"] * 9

    in_loop(act())
    assert most == 3
