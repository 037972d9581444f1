"""The simulated platforms as processes of their own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

from wechat_bridge.local.ports import http_ok
from wechat_bridge.local.services import Service


class _Simulated(Service):
    """A platform on 127.0.0.1; ``platform`` is how ``wechat_bridge.simulators`` calls it, ``made`` what it can make."""

    platform: ClassVar[str]
    made: ClassVar[str]

    def __init__(self, directory: Path, log: Path) -> None:
        super().__init__("simulator", directory, None, log)

    @property
    def url(self) -> str:
        """The base URL of its API."""
        return f"http://127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        """Return the command line."""
        return [sys.executable, "-m", "wechat_bridge.simulators", self.platform, "--port", str(self.port)]

    def answers(self) -> bool:
        """Return whether it takes commands."""
        return self.alive and http_ok(self.port, "POST", f"/_control/{self.made}", "{}")


class SimulatedWechat(_Simulated):
    """Tencent's iLink API; every QR code it gives out is confirmed at once, as ``user_id``."""

    platform, made = "ilink", "bots"

    def __init__(self, user_id: str, directory: Path, log: Path) -> None:
        super().__init__(directory, log)
        self.user_id = user_id

    def command(self) -> list[str]:
        """Return the command line."""
        return [*super().command(), "--auto-confirm", self.user_id]


class SimulatedWecom(_Simulated):
    """WeCom's API and callbacks; apps and members are made through its control API."""

    platform, made = "wecom", "apps"
