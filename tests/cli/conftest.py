"""The command line as people run it: a process of its own, on the databases of the test's module."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from tests.support import forked
from tests.support.world import KEY

MOST_SECONDS = 60
COMMAND = [sys.executable, "-m", "wechat_bridge.cli.main"]


class Cli(Protocol):
    """Run `wechat-bridge ARGUMENTS` to its end."""

    def __call__(self, *arguments: str, typed: str = "", **environment: str) -> subprocess.CompletedProcess[str]: ...


Environment = dict[str, str]


@pytest.fixture(scope="module")
def bare_environment(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that names no servers, with a data folder of the module."""
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "MONGODB_URL")}
    return {**kept, "PYTHONPATH": str(repository), "WECHAT_BRIDGE_DATA_DIR": str(home / "data"), "COLUMNS": "200"}


@pytest.fixture(scope="module")
def environment(urls: tuple[str, str], bare_environment: Environment) -> Environment:
    """An environment that names the servers of the module."""
    return bare_environment | {"REDIS_URL": urls[0], "MONGODB_URL": urls[1], "WECHAT_BRIDGE_SECRET_KEYS": KEY}


def runner(environment: Environment, cwd: Path) -> Cli:
    """Return a way to run commands in an environment, from a folder that has nothing to do with the bridge."""

    def run(*arguments: str, typed: str = "", **extra: str) -> subprocess.CompletedProcess[str]:
        if "PYTHONPATH" not in extra:
            return forked.run(arguments, typed, environment | extra, cwd, MOST_SECONDS)
        return subprocess.run(
            [*COMMAND, *arguments], input=typed, env=environment | extra, cwd=cwd, capture_output=True, text=True,
            timeout=MOST_SECONDS, check=False,
        )  # fmt: skip

    return run


@pytest.fixture
def cli(environment: Environment, tmp_path: Path) -> Cli:
    """Run a command on the servers of the module."""
    return runner(environment, tmp_path)


@pytest.fixture
def start(environment: Environment, tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start a command on the servers of the module, with pipes."""

    def run(*arguments: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [*COMMAND, *arguments], env=environment, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )

    return run
