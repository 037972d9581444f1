"""Small processes to watch over."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wechat_bridge.local.program import Program

MakeProgram = Callable[[str, str], Program]


@pytest.fixture
def make_program(tmp_path: Path) -> Iterator[MakeProgram]:
    """Make a program of a name and a Procfile line; what is still running at the end is killed."""
    made: list[Program] = []

    def make(name: str, line: str) -> Program:
        made.append(Program(name, line, tmp_path / "run", tmp_path / "logs" / f"{name}.log", os.environ))
        return made[-1]

    yield make
    for program in made:
        program.kill()
