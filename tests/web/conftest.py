"""The web process as it runs in production: uvicorn, in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest
import requests

from tests.support.system import wait_until
from tests.support.world import KEY
from wechat_bridge.local.managed import Managed
from wechat_bridge.local.ports import free_port

START_SECONDS = 30.0


class WebProcess(Managed):
    """``uvicorn wechat_bridge.web.app:app`` on a free port."""

    def __init__(self, repository: Path, folder: Path, urls: tuple[str, str], **environment: str) -> None:
        names = {"REDIS_URL": urls[0], "MONGODB_URL": urls[1], "WECHAT_BRIDGE_SECRET_KEYS": KEY}
        super().__init__("web", repository, folder / "web.log", os.environ | names | environment)
        self.port = free_port()

    def command(self) -> list[str]:
        """The command of the Procfile."""
        options = ["--port", str(self.port), "--no-server-header", "--no-access-log"]
        return [sys.executable, "-m", "uvicorn", "wechat_bridge.web.app:app", *options]

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Kill it."""
        self.kill()

    def get(self, path: str, seconds: float = 10.0) -> requests.Response:
        """Ask the process."""
        return requests.get(f"http://127.0.0.1:{self.port}{path}", timeout=seconds)

    def status(self, path: str) -> int:
        """Return the status of an answer, 0 when nobody answers."""
        try:
            return self.get(path).status_code
        except requests.ConnectionError:
            return 0

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.launch()
        wait_until(lambda: self.status("/livez") == 200 or not self.alive, START_SECONDS, "/livez answers")
        assert self.alive, self.log.read_text()

    def stop(self) -> int | None:
        """Ask it to end, as a supervisor does; return its exit code."""
        self.terminate()
        wait_until(lambda: not self.alive, START_SECONDS, "the web process ends")
        return self.exit_code


@pytest.fixture(scope="module")
def web(urls: tuple[str, str], repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebProcess]:
    """A web process on the databases of this module."""
    with WebProcess(repository, tmp_path_factory.mktemp("web"), urls) as process:
        yield process
