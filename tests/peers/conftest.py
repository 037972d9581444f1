"""Programs nobody here wrote, against the simulators. A missing one is skipped; where CI is set it is a failure."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

from wechat_bridge.simulators.ilink import IlinkControl, IlinkOptions, IlinkSimulator

HERE = Path(__file__).parent
OFFICIAL_CLIENT = "@tencent-weixin/openclaw-weixin"
OFFICIAL_VERSION = "2.4.9"
DRIVER_SECONDS = 60.0
REPORT = "REPORT "


def missing(what: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI must have it", pytrace=False)
    pytest.skip(f"{what} is missing")


@pytest.fixture
def peer_module() -> Callable[[str], ModuleType]:
    """Imports a Python peer by name."""

    def load(name: str) -> ModuleType:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            missing(f"the Python package of {name}")

    return load


@pytest.fixture(scope="session")
def official_client() -> Path:
    """The folder whose node_modules holds Tencent's own client, installed there when it is not yet."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            missing(program)
    folder = Path(os.environ.get("PEERS") or Path(tempfile.gettempdir()) / "wechat-bridge-peers")
    if installed_version(folder) != OFFICIAL_VERSION:
        install(folder)
    shutil.copytree(HERE / "openclaw_stub", folder / "node_modules" / "openclaw", dirs_exist_ok=True)
    return folder


def installed_version(folder: Path) -> str:
    package = folder / "node_modules" / OFFICIAL_CLIENT / "package.json"
    return str(json.loads(package.read_text())["version"]) if package.exists() else ""


def install(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{OFFICIAL_CLIENT}@{OFFICIAL_VERSION}"
    command = ["npm", "install", name, "--prefix", str(folder), "--ignore-scripts", "--legacy-peer-deps", "--no-audit"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if ended.returncode:
        missing(f"{name} (npm says: {ended.stderr[-300:]})")


class Driver:
    """One driver script of the official client, running."""

    def __init__(self, peers: Path, state: Path, script: str, *arguments: str) -> None:
        environment = {**os.environ, "PEERS": str(peers), "OPENCLAW_STATE_DIR": str(state), "NODE_NO_WARNINGS": "1"}
        self._process = subprocess.Popen(
            ["node", str(HERE / script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def type(self, line: str) -> None:
        """Type a line on its keyboard."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def report(self) -> Any:
        """What it reports at its end."""
        try:
            out, err = self._process.communicate(timeout=DRIVER_SECONDS)
        except subprocess.TimeoutExpired:
            self.stop()
            raise
        assert self._process.returncode == 0, err
        [line] = [line for line in out.splitlines() if line.startswith(REPORT)]
        return json.loads(line.removeprefix(REPORT))

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


@contextmanager
def drivers(peers: Path, state: Path) -> Iterator[Callable[..., Driver]]:
    """A way to start driver scripts with arguments; all have ended at the end."""
    started: list[Driver] = []

    def start(script: str, *arguments: str) -> Driver:
        started.append(Driver(peers, state, script, *arguments))
        return started[-1]

    yield start
    for driver in started:
        driver.stop()


@pytest.fixture
def drive(official_client: Path, tmp_path: Path) -> Iterator[Callable[..., Driver]]:
    """Starts a driver script with arguments."""
    with drivers(official_client, tmp_path / "state") as start:
        yield start


@pytest.fixture(scope="module")
def simulator() -> Iterator[IlinkSimulator]:
    with IlinkSimulator(IlinkOptions(hold_seconds=1, qr_hold_seconds=1)) as running:
        yield running


@pytest.fixture
def control(simulator: IlinkSimulator) -> IlinkControl:
    simulator.control.reset()
    return simulator.control
