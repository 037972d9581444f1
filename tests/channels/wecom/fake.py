"""Answers for WeCom: a token for the asking, then what a test says, call by call."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.channels.scripted_server import Exchange, Received, ScriptedServer

Said = dict[str, Any]
OK: Said = {"errcode": 0, "errmsg": "ok"}


def refusal(code: int, errmsg: str = "refused") -> Said:
    """A refusing answer in WeCom's own manner."""
    return {
        "errcode": code,
        "errmsg": f"{errmsg}, hint: [1764500000_1], from ip: 192.0.2.7, more info at https://open.work.weixin.qq.com/"
        f"devtool/query?e={code}",
    }


class FakeWecom:
    """Gives each call the next of its ``answers``, the last for ever; ``gettoken`` gives t1, t2, ... if not told."""

    def __init__(self, server: ScriptedServer) -> None:
        self.answers: defaultdict[str, list[Said]] = defaultdict(lambda: [{**OK, "msgid": "m-1"}])
        self.received: list[Received] = []
        self._given = 0
        server.script = self.script

    def script(self, exchange: Exchange) -> None:
        self.received.append(exchange.request)
        call = urlsplit(exchange.request.path).path.removeprefix("/cgi-bin/")
        if call == "gettoken" and call not in self.answers:
            self._given += 1
            exchange.answer_json({**OK, "access_token": f"t{self._given}", "expires_in": 7200})
            return
        answers = self.answers[call]
        said = answers.pop(0) if len(answers) > 1 else answers[0]
        exchange.answer(json.dumps(said, ensure_ascii=False).encode(), "200 OK", "Content-Type: application/json")

    def calls(self, name: str) -> list[Received]:
        """The requests of one call, in order."""
        return [one for one in self.received if urlsplit(one.path).path == f"/cgi-bin/{name}"]

    def tokens_used(self, name: str) -> list[str]:
        """The access tokens with which a call was made, in order."""
        return [query(one)["access_token"] for one in self.calls(name)]


def query(request: Received) -> dict[str, str]:
    """The query of a request."""
    return {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}
