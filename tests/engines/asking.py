"""Engines as the contract suite asks them: each against the simulated engine, in its own dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from wechat_bridge.engines.base import Engine, Question
from wechat_bridge.engines.http import EngineHttp
from wechat_bridge.engines.registry import KINDS
from wechat_bridge.model.engine import EngineSettings

KEY = "sk-very-secret-key-0123456789"

SETTINGS: Mapping[str, dict[str, Any]] = {
    "openai": {"path": "/v1", "api_key": KEY, "model": "simulated-1"},
    "fastgpt": {"path": "/api", "api_key": KEY},
    "dify": {"path": "/v1", "api_key": KEY},
    "webhook": {"path": "/webhook", "secret": KEY},
}


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
)


@dataclass(frozen=True)
class Maker:
    """Makes engines that ask one server."""

    base_url: str
    http: EngineHttp

    def make(self, kind: Kind | str, base_url: str = "", **settings: Any) -> Engine:
        """Return an engine of this kind; ``settings`` are added to what it needs anyway."""
        kind = kind if isinstance(kind, Kind) else Kind(kind)
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
