"""Tencent's own WeCom packages, installed when they are not yet, and what drives them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import Driver, drivers, missing

# The plugin names its host as a peer dependency and needs these four beside it.
PACKAGES = {
    "@wecom/crypto": "1.0.1",
    "@wecom/wecom-openclaw-plugin": "2026.7.2",
    "fast-xml-parser": "",
    "undici": "",
    "zod": "",
    "file-type": "",
}
INSTALL_SECONDS = 300.0


def wecom_folder() -> Path:
    """The folder whose node_modules holds the packages; one of its own, so that two installations never meet."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            missing(program)
    folder = Path(os.environ.get("PEERS") or Path(tempfile.gettempdir()) / "wechat-bridge-peers") / "wecom"
    if not all(installed(folder, name, version) for name, version in PACKAGES.items()):
        install(folder)
    return folder


def installed(folder: Path, name: str, version: str) -> bool:
    """Whether a package is there, in its version if one is wanted."""
    package = folder / "node_modules" / name / "package.json"
    return package.exists() and version in {"", str(json.loads(package.read_text())["version"])}


def install(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"{name}@{version}" if version else name for name, version in PACKAGES.items()]
    switches = ["--prefix", str(folder), "--ignore-scripts", "--legacy-peer-deps", "--no-audit"]
    command = ["npm", "install", *names, *switches]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if ended.returncode:
        missing(f"{' '.join(names)} (npm says: {ended.stderr[-300:]})")


@pytest.fixture
def drive_wecom(tmp_path: Path) -> Iterator[Callable[..., Driver]]:
    """Starts a driver script of these packages with arguments."""
    with drivers(wecom_folder(), tmp_path / "state") as start:
        yield start


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
