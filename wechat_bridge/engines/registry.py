"""The engines there are: our own, those that the settings describe, and those of installed packages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
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
ECHO = EchoEngine()

KINDS: Mapping[str, Callable[[str, Any, EngineHttp], Engine]] = {
    "openai": OpenAiEngine,
    "fastgpt": FastGptEngine,
    "dify": DifyEngine,
    "webhook": WebhookEngine,
}


class Engines(Mapping[str, Engine]):
    """Every engine by name, as the settings describe them now.

    A package adds one with an entry point of group ``wechat_bridge.engines``, which names a callable without arguments
    that returns the engine. Of two with one name the settings' goes before a package's, and ours before both. An engine
    whose description changed is another object from then on; who has the old one may go on with it.
    """

    def __init__(
        self, described: Callable[[], Mapping[str, EngineSettings]], http: EngineHttp, call_task: TaskCaller
    ) -> None:
        self._described = described
        self._http = http
        self._call_task = call_task
        self._of_packages = {point.name: point.load()() for point in entry_points(group=GROUP)}
        self._made: dict[str, tuple[EngineSettings, Engine]] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> Engine:
        if name == EchoEngine.name:
            return ECHO
        settings = self._described().get(name)
        return self._of_packages[name] if settings is None else self._engine(name, settings)

    def __iter__(self) -> Iterator[str]:
        return iter({EchoEngine.name, *self._described(), *self._of_packages})

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _engine(self, name: str, settings: EngineSettings) -> Engine:
        with self._lock:
            made = self._made.get(name)
            if made is None or (made[0] is not settings and made[0] != settings):
                made = self._made[name] = (settings, _described(name, settings, self._http, self._call_task))
            return made[1]


def _described(name: str, settings: EngineSettings, http: EngineHttp, call_task: TaskCaller) -> Engine:
    if isinstance(settings, TaskEngineSettings):
        return TaskEngine(name, settings, call_task)
    return KINDS[settings.kind](name, settings, http)
