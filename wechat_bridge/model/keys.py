"""How things are named. Ids are strings everywhere: WeChat's exceed 2^53 and even 2^63."""

from __future__ import annotations

import hashlib
import re
import secrets

SHARE_ID_PATTERN = r"^[a-z0-9-]{1,32}$"
TURN_PREFIX = "wechat-reply:"


def is_share_id(text: str) -> bool:
    """Whether ``text`` may name a channel: lower-case letters, digits and hyphens, 1 to 32 of them."""
    return re.match(SHARE_ID_PATTERN, text) is not None and not text.endswith("\n")


def chat_id(share_id: str, user_id: str) -> str:
    """Return the conversation of one person with one channel."""
    return f"wechat_{share_id}_{user_id}"


def inbox_id(share_id: str, message_id: str) -> str:
    """Return the key of an inbound message; being unique is what removes repeats."""
    return f"{share_id}:{message_id}"


def turn_id(share_id: str, last_message_id: str) -> str:
    """Return the id of the turn that ends with this message; it is also the Celery task id of its reply."""
    return f"{TURN_PREFIX}{share_id}:{last_message_id}"


def notice_id(share_id: str, own_id: str) -> str:
    """Return the id of a turn that answers nobody; ``own_id`` is its sender's."""
    return f"wechat-notice:{share_id}:{own_id}"


def hand_id(share_id: str, own_id: str) -> str:
    """Return the id of a turn by which a human answers in place of the engine; ``own_id`` is theirs."""
    return f"wechat-hand:{share_id}:{own_id}"


def access_id(share_id: str, own_id: str) -> str:
    """Return the id of a turn by which the bridge tells somebody why they are not answered, or that they are now."""
    return f"wechat-access:{share_id}:{own_id}"


def welcome_id(share_id: str, message_id: str) -> str:
    """Return the id of a turn that welcomes the sender of an event."""
    return f"wechat-welcome:{share_id}:{message_id}"


def client_id(turn: str, number: int) -> str:
    """Return the id WeChat gets with chunk ``number`` (from 0) of a turn, the same on every attempt."""
    return f"wechat-bridge-{hashlib.sha256(turn.encode()).hexdigest()[:24]}-{number}"


def new_owner(host: str, pid: int) -> str:
    """Return a name for a process that no other process, past or present, has."""
    return f"{host}:{pid}:{secrets.token_hex(4)}"


def new_token() -> str:
    """Return a token that marks one claim, so that reading it back tells who won."""
    return secrets.token_hex(8)


def new_file_name() -> str:
    """Return a name for stored bytes that no others have: 32 hex digits, nothing that anybody chose."""
    return secrets.token_hex(16)


def new_trace_id() -> str:
    """Return a trace id in the form of W3C trace context: 32 hex digits."""
    return secrets.token_hex(16)
