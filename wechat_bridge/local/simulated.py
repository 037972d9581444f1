"""The simulated platforms as processes of their own."""

from __future__ import annotations

import sys
from pathlib import Path

from wechat_bridge.local.ports import http_ok
from wechat_bridge.local.services import Service


class SimulatedWechat(Service):
    """Tencent's iLink API on 127.0.0.1; every QR code it gives out is confirmed at once, as ``user_id``."""

    def __init__(self, user_id: str, directory: Path, log: Path) -> None:
        super().__init__("simulator", directory, None, log)
        self.user_id = user_id

    @property
    def url(self) -> str:
        """The base URL of its API."""
        return f"http://127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        """Return the command line."""
        options = ["--port", str(self.port), "--auto-confirm", self.user_id]
        return [sys.executable, "-m", "wechat_bridge.simulators", "ilink", *options]

    def answers(self) -> bool:
        """Return whether it takes commands."""
        return self.alive and http_ok(self.port, "POST", "/_control/bots", "{}")


class SimulatedWecom(Service):
    """WeCom's API and callbacks on 127.0.0.1; apps and members are made through its control API."""

    def __init__(self, directory: Path, log: Path) -> None:
        super().__init__("simulator", directory, None, log)

    @property
    def url(self) -> str:
        """The base URL of its API."""
        return f"http://127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        """Return the command line."""
        return [sys.executable, "-m", "wechat_bridge.simulators", "wecom", "--port", str(self.port)]

    def answers(self) -> bool:
        """Return whether it takes commands."""
        return self.alive and http_ok(self.port, "POST", "/_control/apps", "{}")
