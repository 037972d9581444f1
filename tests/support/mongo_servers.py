"""MongoDB-protocol servers for tests of failovers: with fail points, and with a clock of their own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wechat_bridge.local import binaries
from wechat_bridge.local.services import MongoServer
from wechat_bridge.store import ledger

SHIFTED = Path(__file__).with_name("shifted_server.py")
NOT_WRITABLE_PRIMARY = 10107


class FailPointServer(MongoServer):
    """SecantusDB's server with MongoDB's test command ``configureFailPoint``."""

    def command(self) -> list[str]:
        """Return the command line."""
        place = ["--host", "127.0.0.1", "--port", str(self.port), "--storage-path", str(self.directory)]
        return [binaries.secantusd(), *place, "--enable-test-commands"]

    def fail(self, commands: Sequence[str], times: int, **how: Any) -> None:
        """Let the next ``times`` commands of these names fail, each in the way that the fail point's data says."""
        with ledger.connect(self.url) as client:
            data = {"failCommands": list(commands), **how}
            client.admin.command({"configureFailPoint": "failCommand", "mode": {"times": times}, "data": data})

    def heal(self) -> None:
        """Let nothing fail any more."""
        with ledger.connect(self.url) as client:
            client.admin.command({"configureFailPoint": "failCommand", "mode": "off"})


class ShiftedServer(MongoServer):
    """SecantusDB's server whose clock is wrong by ``shift_seconds``; it counts from the next start."""

    shift_seconds = 0.0

    def command(self) -> list[str]:
        """Return the command line."""
        place = ["--host", "127.0.0.1", "--port", str(self.port), "--storage-path", str(self.directory)]
        return [sys.executable, str(SHIFTED), str(self.shift_seconds), *place]

    def step_down(self, seconds: int) -> None:
        """Refuse writes for so long, as the primary of a replica set of one does when told to step down."""
        with ledger.connect(self.url) as client:
            client.admin.command({"replSetStepDown": seconds, "force": True})
