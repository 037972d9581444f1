"""Arguments of management tasks as people type them into Flower: with spaces around them, or a number for a text."""

from __future__ import annotations

import base64
import json

from wechat_bridge.errors import TaskFailed
from wechat_bridge.gateway.incoming import Incoming
from wechat_bridge.model.access import Policy
from wechat_bridge.model.event import EventSource
from wechat_bridge.model.keys import is_share_id

MOST_ID_CHARACTERS = 512


def as_share_id(value: object) -> str:
    """Return the name of a channel. Raises TaskFailed."""
    text = _text(value)
    if not is_share_id(text):
        raise TaskFailed("share_id should be the name of a channel: 1 to 32 lower-case letters, digits and hyphens")
    return text


def as_number(value: object) -> str:
    """Return a number or a code as typed; as a JSON number it has lost its leading zeros, which quotes keep."""
    return _text(value)


def as_user_id(value: object) -> str:
    """Return a WeChat user. Raises TaskFailed."""
    text = _text(value)
    if not text or len(text) > MOST_ID_CHARACTERS:
        raise TaskFailed("user_id should be a WeChat user, as in the inbox: ...@im.wechat")
    return text


def as_policy(value: object) -> Policy:
    """Return whom a channel answers. Raises TaskFailed."""
    text = _text(value)
    if text not in list(Policy):
        raise TaskFailed(f"policy should be one of: {', '.join(Policy)}")
    return Policy(text)


def as_count(value: object) -> int | None:
    """Return a number from 0 that may be left out. Raises TaskFailed."""
    if value is None:
        return None
    text = _text(value)
    if not (text.isascii() and text.isdigit()):
        raise TaskFailed("a limit should be a number from 0; 0 is no limit")
    return int(text)


def as_message(value: object) -> str:
    """Return what is to be said, unchanged. Raises TaskFailed."""
    if not isinstance(value, str):
        raise TaskFailed("text should be what is to be said")
    return value


def as_id(value: object) -> str:
    """Return the id of a dead letter. Raises TaskFailed."""
    text = _text(value)
    if not text or len(text) > MOST_ID_CHARACTERS:
        raise TaskFailed("id should be that of a dead letter; `wechat-bridge dead list` shows those there are")
    return text


def as_event(payload: object, event_type: object, content_type: object, headers: object) -> Incoming:
    """Return an event that a task was called with. Raises TaskFailed."""
    named = headers if isinstance(headers, dict) else {}
    if not all(isinstance(part, str) for pair in named.items() for part in pair):
        raise TaskFailed("headers should be texts by name")
    if not isinstance(event_type, str) or not isinstance(content_type, str):
        raise TaskFailed("event_type and content_type should be texts")
    return Incoming(EventSource.TASK, content_type, _bytes(payload), named, event_type)


def _bytes(payload: object) -> bytes:
    if isinstance(payload, dict) and set(payload) == {"base64"} and isinstance(payload["base64"], str):
        try:
            return base64.b64decode(payload["base64"], validate=True)
        except ValueError:
            raise TaskFailed("base64 should be bytes in Base64") from None
    text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else ""
