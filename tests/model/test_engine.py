"""Engines as operators describe them in the environment."""

from __future__ import annotations

import json

import pytest

from wechat_bridge.errors import SettingsError
from wechat_bridge.model.engine import OpenAiEngineSettings, TaskEngineSettings
from wechat_bridge.settings import load_settings

ENGINES = "WECHAT_BRIDGE_ENGINES"


def test_engines_are_described_as_one_json_object_or_value_by_value_or_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENGINES, json.dumps({"deepseek": {"kind": "openai", "model": "deepseek-chat"}}))
    monkeypatch.setenv(f"{ENGINES}__DEEPSEEK__API_KEY", "sk-1\n")
    monkeypatch.setenv(f"{ENGINES}__SHOP__KIND", "task")
    monkeypatch.setenv(f"{ENGINES}__SHOP__TASK", "shop.answer")
    monkeypatch.setenv(f"{ENGINES}__SHOP__QUEUE", "shop")
    given = load_settings()
    deepseek, shop = given.engines["deepseek"], given.engines["shop"]
    assert isinstance(deepseek, OpenAiEngineSettings)
    assert (deepseek.model, deepseek.api_key.get_secret_value()) == ("deepseek-chat", "sk-1")
    assert shop == TaskEngineSettings(kind="task", task="shop.answer", queue="shop")
    assert "sk-1" not in repr(given)


@pytest.mark.parametrize(
    ("engines", "says"),
    [
        ({"echo": {"kind": "openai", "model": "m"}}, "echo is the engine that repeats"),
        ({"Big": {"kind": "openai", "model": "m"}}, "String should match"),
        ({"a": {"kind": "oracle"}}, f"{ENGINES}__A: Input tag 'oracle'"),
        ({"a": {"kind": "openai"}}, f"{ENGINES}__A__MODEL: Field required"),
        ({"a": {"kind": "webhook", "url": "ftp://x", "secret": "s"}}, f"{ENGINES}__A__URL"),
        ({"a": {"kind": "webhook", "url": "https://x", "secret": " "}}, f"{ENGINES}__A__SECRET: should not be empty"),
        ({"a": {"kind": "dify", "api_key": "k", "modle": 1}}, f"{ENGINES}__A__MODLE: Extra inputs"),
    ],
)
def test_an_engine_that_cannot_be_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, engines: object, says: str
) -> None:
    monkeypatch.setenv(ENGINES, json.dumps(engines))
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert says in str(caught.value)
