"""The same thing done by many threads in the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

R = TypeVar("R")


def together(count: int, act: Callable[[int], R]) -> list[R]:
    """Let ``count`` threads call ``act`` with their number at once; return what each got, or raise what one raised."""
    barrier = threading.Barrier(count)

    def run(number: int) -> R:
        barrier.wait(10)
        return act(number)

    with ThreadPoolExecutor(count) as pool:
        return [future.result(30) for future in [pool.submit(run, number) for number in range(count)]]
