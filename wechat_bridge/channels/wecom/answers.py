"""What is common to WeCom's answers: a JSON object with an errcode, under HTTP 200 whatever happened."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from wechat_bridge.channels.http import HttpAnswer
from wechat_bridge.errors import PlatformUnavailable

_LONGEST_ERRMSG = 300
_WHOLE = re.compile(r"-?[0-9]{1,9}", re.ASCII)
_SUCCESS = ("access_token", "media_id")
"""Older servers leave the errcode out of an answer that has one of these."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as read: its errcode, what WeCom says about it, and all of it."""

    code: int
    errmsg: str = ""
    fields: dict[str, Any] = field(default_factory=dict, repr=False)

    def text(self, name: str) -> str:
        """Return a field that is text; "" for any other, and for none."""
        value = self.fields.get(name)
        return value.strip() if isinstance(value, str) else ""


def answer_of(answer: HttpAnswer, call: str, secrets: Iterable[str]) -> Answer:
    """Read an answer. Raises PlatformUnavailable for another status than 200, and for what WeCom would not say."""
    if answer.status != 200:
        raise PlatformUnavailable(f"WeCom answered {call} with HTTP {answer.status}; it is tried again")
    fields = _object(answer.body)
    code = _code(fields)
    if code is None:
        raise PlatformUnavailable(f"WeCom answered {call} without an errcode; it is tried again")
    return Answer(code, masked(fields.get("errmsg"), secrets), fields)


def masked(errmsg: object, secrets: Iterable[str]) -> str:
    """Return what WeCom says on one line, without any of ``secrets``."""
    text = " ".join(errmsg.split()) if isinstance(errmsg, str) else ""
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return text.encode("utf-8", "replace").decode()[:_LONGEST_ERRMSG]


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _code(fields: dict[str, Any]) -> int | None:
    value = fields.get("errcode")
    if value is None and any(isinstance(fields.get(name), str) for name in _SUCCESS):
        return 0
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
