"""Engines are found: ours, those the settings describe, and those of installed packages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.engines.asking import question
from wechat_bridge.engines.base import Engine
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.engines.registry import GROUP, Engines
from wechat_bridge.model.engine import EngineSettings


def described(**settings: Any) -> EngineSettings:
    found: EngineSettings = TypeAdapter[EngineSettings](EngineSettings).validate_python(settings)
    return found


def load(http: EngineHttp, **engines: EngineSettings) -> Mapping[str, Engine]:
    return Engines(lambda: engines, http, lambda task, queue, turn, deadline_seconds: turn["text"] + "!")


def install(folder: Path, source: str, entries: str) -> None:
    """Put a package with these entry points there."""
    (folder / "own_engine.py").write_text(source)
    info = folder / "own_engine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-engine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entries}")


def test_without_settings_and_packages_there_is_the_echo(engine_http: EngineHttp) -> None:
    engines = load(engine_http)
    assert list(engines) == ["echo"]
    assert engines["echo"].answer(question("hi")).text == "hi"


def test_every_kind_of_the_settings_becomes_an_engine_of_its_name(engine_http: EngineHttp) -> None:
    engines = load(
        engine_http,
        a=described(kind="openai", model="m"),
        b=described(kind="fastgpt", base_url="http://127.0.0.1:1/api", api_key="k"),
        c=described(kind="dify", api_key="k"),
        d=described(kind="webhook", url="http://127.0.0.1:1", secret="s"),
        e=described(kind="task", task="t", queue="q"),
    )
    assert {name: engine.name for name, engine in engines.items()} == {name: name for name in ("echo", *"abcde")}
    assert engines["e"].answer(question("hi")).text == "hi!"


def test_the_readmes_engine_answers_once_its_package_is_installed(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine_http: EngineHttp
) -> None:
    found = re.search(r"<!-- engine -->\n```python\n(.*?)```", (repository / "README.md").read_text(), re.DOTALL)
    assert found is not None
    install(tmp_path, found[1], "shouting = own_engine:Shouting\necho = own_engine:Shouting\n")
    monkeypatch.syspath_prepend(tmp_path)
    engines = load(engine_http)
    assert engines["shouting"].answer(question("hi")).text == "HI"
    assert engines["echo"].answer(question("hi")).text == "hi"


def test_an_engine_is_made_anew_when_its_description_changes_and_no_other(engine_http: EngineHttp) -> None:
    now = {"a": described(kind="task", task="t", queue="q"), "b": described(kind="task", task="t", queue="q")}
    engines = Engines(lambda: now, engine_http, lambda task, queue, turn, deadline_seconds: task)
    a, b = engines["a"], engines["b"]
    now = {"a": described(kind="task", task="other", queue="q"), "b": described(kind="task", task="t", queue="q")}
    assert (engines["a"].answer(question("hi")).text, a.answer(question("hi")).text) == ("other", "t")
    assert engines["b"] is b
    now = {}
    assert set(engines) == {"echo"}
    assert engines.get("a") is None
    assert a.answer(question("hi")).text == "t", "a call in flight goes on with what it has"
