"""What pyproject.toml needs, with everything that needs in turn, at the versions installed here.

``python -m tests.packaging.constraints`` prints docker/constraints.txt.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OWN_NAME = "wechat-celery-bridge"
HEADER = "# Every dependency (runtime, local, dev) at the version that the tests ran with, for pip install -c."


def direct(root: Path) -> list[Requirement]:
    """The requirements that pyproject.toml names, build backend included, extras of its own left out."""
    content = tomllib.loads((root / "pyproject.toml").read_text())
    project = content["project"]
    groups = [content["build-system"]["requires"], project["dependencies"], *project["optional-dependencies"].values()]
    requirements = [Requirement(line) for group in groups for line in group]
    return [requirement for requirement in requirements if canonicalize_name(requirement.name) != OWN_NAME]


def closure(requirements: list[Requirement]) -> dict[str, str]:
    """Names and installed versions of these and all they need; what is not installed here is left out."""
    found: dict[str, str] = {}
    waiting = list(requirements)
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        for extra in ("", *requirement.extras):
            name = canonicalize_name(requirement.name)
            if (name, extra) not in seen:
                seen.add((name, extra))
                waiting += _needed(name, extra, found)
    return dict(sorted(found.items()))


def _needed(name: str, extra: str, found: dict[str, str]) -> Iterator[Requirement]:
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        return
    found[name] = installed.version
    for line in installed.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield requirement


def text(root: Path) -> str:
    """The content of the file."""
    pins = [f"{name}=={version}" for name, version in closure(direct(root)).items()]
    return "\n".join([HEADER, *pins, ""])


if __name__ == "__main__":
    sys.stdout.write(text(Path(__file__).parents[2]))
