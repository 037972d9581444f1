"""The engines there are: our own, those that the settings describe, and those of installed packages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any

from wechat_bridge.engines.base import Engine
from wechat_bridge.engines.dify import DifyEngine
from wechat_bridge.engines.echo import EchoEngine
from wechat_bridge.engines.fastgpt import FastGptEngine
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.engines.openai import OpenAiEngine
from wechat_bridge.engines.task import TaskCaller, TaskEngine
from wechat_bridge.engines.webhook import WebhookEngine
from wechat_bridge.model.engine import EngineSettings, TaskEngineSettings

GROUP = "wechat_bridge.engines"

KINDS: Mapping[str, Callable[[str, Any, EngineHttp], Engine]] = {
    "openai": OpenAiEngine,
    "fastgpt": FastGptEngine,
    "dify": DifyEngine,
    "webhook": WebhookEngine,
}


def load_engines(described: Mapping[str, EngineSettings], http: EngineHttp, call_task: TaskCaller) -> dict[str, Engine]:
    """Return every engine by name. A package adds one with an entry point of group ``wechat_bridge.engines``.

    The entry point names a callable without arguments that returns the engine. Of two with one name the settings'
    goes before a package's, and ours before both.
    """
    engines: dict[str, Engine] = {point.name: point.load()() for point in entry_points(group=GROUP)}
    engines |= {name: _described(name, each, http, call_task) for name, each in described.items()}
    return engines | {EchoEngine.name: EchoEngine()}


def _described(name: str, settings: EngineSettings, http: EngineHttp, call_task: TaskCaller) -> Engine:
    if isinstance(settings, TaskEngineSettings):
        return TaskEngine(name, settings, call_task)
    return KINDS[settings.kind](name, settings, http)
