"""Imports point one way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture.layers import MAY_IMPORT, PACKAGE, PLATFORMS, violations
from tests.architecture.source import Source, sources


def test_every_import_points_in_the_allowed_direction(repository: Path) -> None:
    found = violations(sources(repository, PACKAGE, "celeryconfig.py"))
    assert not found, "\n".join(found)


def test_every_part_of_the_code_has_a_rule(repository: Path) -> None:
    parts = {path.stem for path in (repository / PACKAGE).iterdir() if path.suffix == ".py" or _is_package(path)}
    assert parts - {"__init__"} <= set(MAY_IMPORT)


def test_every_folder_of_channels_is_known_as_a_platform(repository: Path) -> None:
    assert {path.name for path in (repository / PACKAGE / "channels").iterdir() if _is_package(path)} <= PLATFORMS


@pytest.mark.parametrize(
    ("module", "line", "rule"),
    [
        ("flow/poll.py", "import requests", "flow may not import requests"),
        ("flow/poll.py", "from pymongo.errors import PyMongoError", "flow may not import pymongo"),
        ("flow/poll.py", "from wechat_bridge.tasks import base", "flow may import"),
        ("flow/poll.py", "from wechat_bridge import wiring", "flow may import"),
        ("model/turn.py", "import os", "model may not import os"),
        ("model/turn.py", "from wechat_bridge.settings import settings", "model may import errors"),
        ("store/turns.py", "from wechat_bridge.channels import base", "store may import"),
        ("observe/logging.py", "from wechat_bridge.store import ledger", "observe may import"),
        ("engines/echo.py", "from ..store import ledger", "engines may import"),
        ("channels/wecom/door.py", "from ..ilink import door", "platforms are independent of each other"),
        ("channels/http.py", "from wechat_bridge.channels.ilink import door", "what platforms share knows none"),
        (
            "simulators/ilink/bot.py",
            "from wechat_bridge.model import keys",
            "simulators may import nothing of the rest",
        ),
        ("web/app.py", "from wechat_bridge.cli import main", "web may import"),
        ("errors.py", "def late():\n    from wechat_bridge.model import keys", "errors may import nothing of the rest"),
    ],
)
def test_a_wrong_import_is_named_with_the_rule_it_breaks(module: str, line: str, rule: str) -> None:
    found = violations([_source(module, line)])
    assert len(found) == 1
    assert f"{PACKAGE}/{module}:" in found[0]
    assert rule in found[0]


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("flow/poll.py", "from wechat_bridge.channels.base import PollingDoor"),
        ("channels/ilink/door.py", "from wechat_bridge.channels.http import HttpClient"),
        ("channels/ilink/door.py", "from . import wire"),
        ("web/app.py", "from wechat_bridge import wiring"),
        ("store/turns.py", "import pymongo"),
        ("model/keys.py", "import hashlib"),
    ],
)
def test_a_right_import_is_left_alone(module: str, line: str) -> None:
    assert violations([_source(module, line)]) == []


def _source(module: str, text: str) -> Source:
    return Source(Path(PACKAGE) / module, text, ast.parse(text))


def _is_package(path: Path) -> bool:
    return (path / "__init__.py").exists()
