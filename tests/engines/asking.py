"""Engines as the contract suite asks them: each against the simulated engine, in its own dialect.

A ``task`` speaks none; the task it runs passes each turn on to the simulated engine and returns what that says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from tests.support.own_worker import QUEUE
from wechat_bridge.engines.base import Engine, Question
from wechat_bridge.engines.echo import EchoEngine
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.engines.registry import KINDS
from wechat_bridge.engines.task import TaskCaller, TaskEngine
from wechat_bridge.model.engine import EngineSettings, TaskEngineSettings

KEY = "sk-very-secret-key-0123456789"

SETTINGS: Mapping[str, dict[str, Any]] = {
    "openai": {"path": "/v1", "api_key": KEY, "model": "simulated-1"},
    "fastgpt": {"path": "/api", "api_key": KEY},
    "dify": {"path": "/v1", "api_key": KEY},
    "webhook": {"path": "/webhook", "secret": KEY},
    "task": {"task": "shop.answer", "queue": QUEUE},
}

SHOP = """
import json
import os

import requests

from wechat_bridge.errors import EngineRefused
from wechat_bridge.tasks.own_app import engine_app

app = engine_app("shop", queue="shop")


@app.task(name="shop.answer")
def answer(turn):
    data = json.dumps(turn, ensure_ascii=False).encode()
    reply = requests.post(os.environ["SHOP_ASKS"], data=data, timeout=5)
    if reply.status_code in (400, 401, 402, 403, 404, 413, 422):
        raise EngineRefused(f"{reply.status_code} {reply.text}")
    if reply.status_code != 200:
        raise RuntimeError(f"{reply.status_code} {reply.text}")
    return reply.json()
"""
"""The application of an operator whose tasks answer turns."""


@dataclass(frozen=True)
class Kind:
    """One kind of engine, in one of its ways to read an answer."""

    name: str
    stream: bool | None = None

    def __str__(self) -> str:
        return self.name if self.stream is None else f"{self.name}-{'stream' if self.stream else 'whole'}"


KINDS_TO_ASK = (
    *(Kind(name, stream) for name in ("openai", "fastgpt", "dify") for stream in (True, False)),
    Kind("webhook"),
    Kind("task"),
    Kind("echo"),
)


@dataclass(frozen=True)
class Maker:
    """Makes engines that ask one server; ``call_task`` reaches a worker that does."""

    base_url: str
    http: EngineHttp
    call_task: TaskCaller | None = None

    def make(self, kind: Kind | str, base_url: str = "", **settings: Any) -> Engine:
        """Return an engine of this kind; ``settings`` are added to what it needs anyway."""
        kind = kind if isinstance(kind, Kind) else Kind(kind)
        if kind.name == "echo":
            return EchoEngine()
        if kind.name == "task":
            assert self.call_task is not None
            return TaskEngine("my-task", TaskEngineSettings(kind="task", **SETTINGS["task"]), self.call_task)
        fields = {**SETTINGS[kind.name], **settings, "kind": kind.name}
        address = (base_url or self.base_url) + fields.pop("path")
        fields["url" if kind.name == "webhook" else "base_url"] = address
        if kind.stream is not None:
            fields["stream"] = kind.stream
        described: EngineSettings = TypeAdapter[EngineSettings](EngineSettings).validate_python(fields)
        return KINDS[kind.name](f"my-{kind.name}", described, self.http)


def question(text: str = "你好", *, deadline_seconds: float = 10.0, **fields: Any) -> Question:
    """A turn of one person."""
    known = {"turn_id": "wechat-reply:shop:42", "share_id": "shop", "chat_id": "wechat_shop_ann", "user_id": "ann"}
    return Question(**{**known, "text": text, "deadline_seconds": deadline_seconds, **fields})
