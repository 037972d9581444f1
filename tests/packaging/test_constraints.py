"""docker/constraints.txt pins everything, at versions that pyproject.toml allows."""

from __future__ import annotations

import re
from pathlib import Path

from packaging.utils import canonicalize_name

from tests.packaging.constraints import HEADER, closure, direct


def pins(repository: Path) -> dict[str, str]:
    lines = (repository / "docker" / "constraints.txt").read_text().splitlines()
    assert lines[0] == HEADER
    assert [line for line in lines[1:] if not re.fullmatch(r"[a-z0-9-]+==[A-Za-z0-9.+]+", line)] == []
    return dict(line.split("==") for line in lines[1:])


def test_everything_that_is_needed_is_pinned_and_nothing_else(repository: Path) -> None:
    needed, pinned = set(closure(direct(repository))), set(pins(repository))
    hint = "write it anew: python -m tests.packaging.constraints > docker/constraints.txt"
    assert (needed - pinned, pinned - needed) == (set(), set()), hint


def test_the_pins_are_versions_that_pyproject_allows(repository: Path) -> None:
    pinned = pins(repository)
    unfit = [
        str(requirement)
        for requirement in direct(repository)
        if not requirement.specifier.contains(pinned[canonicalize_name(requirement.name)], prereleases=True)
    ]
    assert unfit == []
