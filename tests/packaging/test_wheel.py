"""The wheel: what is inside, and that an installation of it works from any folder."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from wechat_bridge.local.program import read_procfile


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(repository)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [path] = folder.glob("*.whl")
    return path


def test_the_configuration_of_celery_and_the_procfile_are_inside(wheel: Path, repository: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        assert content.read("celeryconfig.py") == (repository / "celeryconfig.py").read_bytes()
        assert content.read("wechat_bridge/Procfile") == (repository / "Procfile").read_bytes()


def test_every_file_of_the_package_is_inside_and_nothing_of_the_tests(wheel: Path, repository: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
    sources = [path for path in (repository / "wechat_bridge").rglob("*") if path.is_file()]
    expected = {str(path.relative_to(repository)) for path in sources if "__pycache__" not in path.parts}
    assert expected - names == set()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"wechat_bridge", "celeryconfig.py"}


@pytest.fixture(scope="module")
def installed(wheel: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of a fresh environment with the wheel and its `local` extra, at the pinned versions."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=True)
    constraints = repository / "docker" / "constraints.txt"
    command = [str(folder / "bin" / "pip"), "install", "--quiet", "-c", str(constraints), f"{wheel}[local]"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "bin"


def bare_environment(**variables: str) -> dict[str, str]:
    """An environment without servers, settings, and the Python environment of the tests."""
    dropped = ("REDIS_URL", "MONGODB_URL", "PYTHONPATH", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "PATH": "/usr/bin:/bin", **variables}


@pytest.mark.story
@pytest.mark.slow
def test_an_installation_answers_from_any_folder(installed: Path, tmp_path: Path) -> None:
    temporary, cwd = tmp_path / "tmp", tmp_path / "cwd"
    temporary.mkdir()
    cwd.mkdir()
    # A file of the folder from which the command runs must not be taken for the bridge's own.
    (cwd / "celeryconfig.py").write_text("raise SystemExit('the wrong celeryconfig')\n")
    done = subprocess.run(
        [str(installed / "wechat-bridge"), "demo", "--once", "hello"],
        cwd=cwd, env=bare_environment(TMPDIR=str(temporary)), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "hello\n"), done.stderr
    assert list(temporary.iterdir()) == []


@pytest.mark.story
@pytest.mark.slow
def test_an_installation_carries_the_procfile_of_the_repository(installed: Path, repository: Path) -> None:
    code = "from wechat_bridge.local.program import *; print(bundled_procfile())"
    python = [str(installed / "python"), "-c", code]
    shown = subprocess.run(python, cwd="/", env=bare_environment(), capture_output=True, text=True, check=True).stdout
    path = Path(shown.strip())
    assert path.is_relative_to(installed.parent)
    assert read_procfile(path) == read_procfile(repository / "Procfile")
