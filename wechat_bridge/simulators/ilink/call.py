"""One request to the simulated server and the answer to it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from wechat_bridge.simulators.ilink.bot import Batch, Bot
from wechat_bridge.simulators.ilink.polls import Poll
from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wakeup import Wakeup


@dataclass(slots=True)
class Answer:
    """An HTTP answer; `batch` is what it hands out of a bot's messages."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    batch: Batch | None = None


@dataclass(slots=True)
class Call:
    """A request with its body read: `body` is the JSON object, `data` the bytes.

    `scripted` says that its answer is being given by a script, `client_closed` that nobody waits for it any more;
    `wakeup` is notified when that changes. `response` is what was written, as aiohttp wants to have it back.
    """

    endpoint: str
    request: web.BaseRequest
    data: bytes
    body: Json
    bot: Bot | None = None
    poll: Poll | None = None
    scripted: bool = False
    client_closed: bool = False
    wakeup: Wakeup = field(default_factory=Wakeup)
    response: web.Response | None = None

    @property
    def account(self) -> Bot:
        """The bot whose valid token came with the request; only for endpoints that need one."""
        if self.bot is None:
            raise LookupError(f"{self.endpoint} was called without a bot token")
        return self.bot

    def note_client_closed(self) -> None:
        """The connection is gone: wake whoever holds the answer back."""
        self.client_closed = True
        self.wakeup.notify()

    def end_poll(self) -> None:
        """The answer is about to leave, so the client may poll again from now on."""
        if self.poll is not None and self.bot is not None:
            self.bot.polls.end(self.poll)


def json_answer(value: Any, status: int = 200) -> Answer:
    """An answer with a JSON body; ids stay bare integers however large."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate has no UTF-8 form, but its backslash form is the JSON escape for it.
    body = text.encode("utf-8", "backslashreplace")
    return Answer(body, status, {"Content-Type": "application/json"})


def error_answer(code: int, errmsg: str, field_names: str = "ret") -> Answer:
    """A business error under HTTP 200. `field_names` says where the code stands: `ret`, `errcode` or `both`."""
    names = ("ret", "errcode") if field_names == "both" else (field_names,)
    body: Json = dict.fromkeys(names, code)
    return json_answer({**body, "errmsg": errmsg} if errmsg else body)
