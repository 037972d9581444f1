"""Importing the bridge opens no connection."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WATCHED = """
import importlib, os, socket, sys

def refuse(*arguments, **_):
    print("a connection was opened:", arguments[1:], flush=True)
    os._exit(3)  # nobody can swallow this

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
importlib.import_module(sys.argv[1])
print("quiet")
"""

PROBE = WATCHED + "socket.create_connection(('127.0.0.1', 9))"


def imported(code: str, module: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, module], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "module",
    ["wechat_bridge", "celeryconfig", "wechat_bridge.app", "wechat_bridge.web.app", "wechat_bridge.cli.main",
     "wechat_bridge.cli.demo", "wechat_bridge.cli.up"],
)  # fmt: skip
def test_importing_opens_no_connection(module: str, repository: Path) -> None:
    done = imported(WATCHED, module, repository)
    assert (done.returncode, done.stdout) == (0, "quiet\n"), done.stderr + done.stdout


def test_a_connection_would_be_noticed(repository: Path) -> None:
    assert imported(PROBE, "wechat_bridge", repository).returncode == 3
