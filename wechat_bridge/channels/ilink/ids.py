"""Ids of messages: strings of digits as iLink gives them, or a fingerprint where it gives none."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from wechat_bridge.channels.ilink.lenient import as_int, compact

_LARGEST = 2**64 - 1
_NAME = re.compile(r"[A-Za-z0-9_.:@=+/-]{1,128}", re.ASCII)
_IDENTITY = ("from_user_id", "client_id", "create_time_ms", "item_list")


def as_id(value: object) -> str | None:
    """Return an id as text, the same for 7001 and "7001"; None for 0, "", null, fractions and other no-ids."""
    number = as_int(value)
    if number is not None:
        return str(number) if 0 < number <= _LARGEST else None
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None


def id_of(message: dict[str, Any]) -> str:
    """Return the id of a message: its own, else that of its first item that has one, else a fingerprint.

    The fingerprint is over sender, ``client_id``, time and items, so a repeat has the same one and the same words sent
    later have another. ``context_token`` is left out: a repeat may carry a new one (field report 16).
    """
    items = message.get("item_list")
    of_items = (
        [as_id(item.get("msg_id")) for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    )
    return next((found for found in (as_id(message.get("message_id")), *of_items) if found), fingerprint(message))


def fingerprint(message: object) -> str:
    """Return an id made from what a message says; from all of its JSON where it says nothing about itself."""
    identity = [message.get(name) for name in _IDENTITY] if isinstance(message, dict) else []
    known = compact(identity if any(identity) else message)
    return f"fp-{hashlib.sha256(known.encode()).hexdigest()[:32]}"
