"""A running system that WeCom calls: worker processes, a callback server, and a simulated WeCom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeVar, cast

from tests.support.system import System
from tests.support.wecom_world import WecomWorld
from tests.web.conftest import WebProcess
from wechat_bridge.simulators.wecom import WecomControl, WecomSimulatorProcess

AnyWorld = TypeVar("AnyWorld", bound=WecomWorld)


class Called:
    """What runs, and the members, the operator and the person behind the server."""

    def __init__(self, system: System, web: WebProcess, control: WecomControl) -> None:
        self.system = system
        self.control = control
        self.web = web

    @classmethod
    @contextmanager
    def running(
        cls, urls: tuple[str, str], web: WebProcess, workers: Sequence[tuple[str, str]], threads: int
    ) -> Iterator[Self]:
        """Start workers, each a kind and a name, and the callback server; wait until they judge each other."""
        folder = web.log.parent
        with WecomSimulatorProcess() as wecom, System(urls, folder, cast("Any", None), "") as system:
            for kind, name in workers:
                system.start(kind, name, threads=threads)
            with web:
                system.wait_alive(len(workers))
                system.wait_steady()
                yield cls(system, web, wecom.control)

    def reached(self, world: AnyWorld) -> AnyWorld:
        """Enter the address of a channel in WeCom's console; return the channel."""
        url = f"http://127.0.0.1:{self.web.port}/wecom/{world.share_id}"
        assert self.control.set_callback(world.bot_id, url)["ok"]
        return world
