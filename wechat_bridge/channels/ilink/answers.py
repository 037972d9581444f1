"""What is common to iLink's answers: the object inside, and its code in ``ret``, ``errcode``, or both."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wechat_bridge.channels.http import HttpAnswer
from wechat_bridge.channels.ilink.lenient import as_int, as_number, clean, loads
from wechat_bridge.errors import PlatformUnavailable, SessionExpired

SESSION_TIMEOUT = -14
_LONGEST_ERRMSG = 200


def body_of(answer: HttpAnswer, call: str) -> bytes:
    """Return the body of an answer with status 200. Raises PlatformUnavailable for any other status."""
    if answer.status != 200:
        raise PlatformUnavailable(f"WeChat answered {call} with HTTP {answer.status}; it is tried again")
    return answer.body


def object_of(body: bytes, call: str) -> dict[str, Any]:
    """Return the JSON object in ``body``. Raises PlatformUnavailable when there is none."""
    try:
        answer = loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise PlatformUnavailable(f"WeChat answered {call} with something that is no JSON object; it is tried again")
    return answer


def codes_of(answer: dict[str, Any], call: str) -> list[int]:
    """Return the codes that are not 0, ``ret`` before ``errcode``: failures have come with either one alone.

    Raises PlatformUnavailable for a code that is no number.
    """
    codes = []
    for name in ("ret", "errcode"):
        value = answer.get(name)
        code = 0 if value is None else _code(value)
        if code is None:
            raise PlatformUnavailable(f"WeChat answered {call} with a {name} that is no number; it is tried again")
        codes.append(code)
    return [code for code in codes if code]


def errmsg_of(answer: dict[str, Any], secrets: Iterable[str] = ()) -> str:
    """Return what WeChat says about a failure, on one line, without the ``secrets`` of the request."""
    text = " ".join(clean(answer.get("errmsg")).split())
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return text[:_LONGEST_ERRMSG]


def session_expired(call: str) -> SessionExpired:
    """Return the error for a login that has ended."""
    return SessionExpired(f"WeChat answered {call} with -14: the session has ended; log the channel in again")


def _code(value: object) -> int | None:
    whole = as_int(value)
    number = as_number(value) if whole is None else None
    return whole if number is None else int(number)
