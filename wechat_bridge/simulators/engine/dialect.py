"""What each dialect tells the server: what was asked, and how an answer, a stream and a failure look."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from wechat_bridge.simulators.engine.script import ScriptedReply
from wechat_bridge.simulators.engine.world import RecordedCall, World

Json = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """What a request asks. `links` lead to pictures and documents that come with it."""

    text: str
    stream: bool = False
    conversation: str = ""
    detail: bool = False
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """Why a request is not answered."""

    status: int
    body: Json


class Dialect(Protocol):
    """One engine's way to speak. `path` is where it listens, `has_key` whether it wants a key."""

    name: str
    path: str
    has_key: bool

    def read(self, world: World, call: RecordedCall) -> Asked | Refused:
        """Return what is asked, or why it is not answered."""
        ...

    def whole(self, asked: Asked, reply: ScriptedReply) -> Json:
        """Return the body of an answer that comes at once."""
        ...

    def stream(self, asked: Asked, reply: ScriptedReply) -> Iterator[bytes]:
        """Yield the events of a stream, its end mark included."""
        ...

    def failure(self, status: int, code: int | None, message: str) -> Refused:
        """Return an error as this engine sends it."""
        ...


def event(value: Any, name: str = "") -> bytes:
    """Return one server-sent event; halves of characters travel as JSON escapes, bytes that fit as they are."""
    data = value if isinstance(value, str) else json_text(value)
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data}\n\n".encode()


def json_text(value: Any) -> str:
    """Return JSON with real characters in it, except halves, which have no UTF-8."""
    text = json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()


def last_text(messages: Any) -> str:
    """Return the text of the last message of a chat."""
    last = messages[-1] if isinstance(messages, list) and messages else None
    content = last.get("content") if isinstance(last, dict) else None
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def links_in(messages: Any) -> tuple[str, ...]:
    """Return the links of the last message of a chat, to pictures and documents."""
    last = messages[-1] if isinstance(messages, list) and messages else None
    content = last.get("content") if isinstance(last, dict) else None
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    pictures = [part["image_url"].get("url") for part in parts if isinstance(part.get("image_url"), dict)]
    found = [*pictures, *(part.get("url") for part in parts if part.get("type") == "file_url")]
    return tuple(link for link in found if isinstance(link, str) and link.startswith("http"))
