"""One call of qyapi, and what is answered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.app import App
from wechat_bridge.simulators.wecom.codes import ApiError
from wechat_bridge.simulators.wecom.kf_account import KfAccount

if TYPE_CHECKING:
    from wechat_bridge.simulators.wecom.world import World

# A \u escape of something that could stand there as UTF-8; control characters have no other spelling in JSON.
NEEDLESS_ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*\\u(?!00[01][0-9a-fA-F])")


@dataclass
class UploadedFile:
    """The part of a multipart upload that carries the file."""

    filename: str
    content_type: str
    data: bytes = field(repr=False)


@dataclass
class Answer:
    """An answer that is not JSON: the bytes of a file."""

    data: bytes = field(repr=False)
    headers: dict[str, str]
    status: int = 200


@dataclass
class Call:
    """One request, read completely.

    `ring` sends the doorbell of a customer service account. `outcomes` is what became of a send, per person.
    """

    world: World
    ring: Callable[[KfAccount], object] = field(repr=False)
    method: str
    path: str
    query: dict[str, str] = field(repr=False)
    headers: dict[str, str] = field(repr=False)
    source_ip: str
    data: bytes = field(default=b"", repr=False)
    file: UploadedFile | None = None
    known_app: App | None = None
    outcomes: dict[str, str] = field(default_factory=dict)

    @property
    def app(self) -> App:
        """The app whose access token the call carries.

        Raises:
            ApiError: 41001, the call has none.
        """
        if self.known_app is None:
            raise ApiError(41001)
        return self.known_app

    def json(self) -> Json:
        """The JSON object of the body.

        Raises:
            ApiError: 47001 for anything else, 40033 for needless escapes.
        """
        if self.world.options.refuse_escapes and NEEDLESS_ESCAPE.search(self.data):
            raise ApiError(40033)
        try:
            body = json.loads(self.data)
        except ValueError as error:
            raise ApiError(47001) from error
        if not isinstance(body, dict):
            raise ApiError(47001)
        return body

    def as_json(self, errcode: int | None, scripted: bool) -> Json:
        """What the record keeps of it, without secrets; `errcode` None: no answer was given."""
        query = {name: value for name, value in self.query.items() if name not in {"access_token", "corpsecret"}}
        return {
            "at": self.world.now(),
            "method": self.method,
            "path": self.path,
            "app": self.known_app.key if self.known_app else "",
            "source_ip": self.source_ip,
            "query": query,
            "body": self.data.decode("utf-8", "replace"),
            "errcode": errcode,
            "scripted": scripted,
            "outcomes": self.outcomes,
        }
