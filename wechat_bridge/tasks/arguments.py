"""Arguments of management tasks as people type them into Flower: with spaces around them, or a number for a text."""

from __future__ import annotations

from wechat_bridge.errors import TaskFailed
from wechat_bridge.model.access import Policy
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


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else ""
