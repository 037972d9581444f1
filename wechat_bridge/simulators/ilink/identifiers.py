"""Made-up ids in the shapes seen on the wire: users, bots, tokens, opaque strings and message ids."""

from __future__ import annotations

import base64
import itertools
import os
import secrets
import time
from collections.abc import Iterator


def new_user_id() -> str:
    """A WeChat user id: a 28-character openid and its suffix."""
    return f"o{secrets.token_hex(14)[:27]}@im.wechat"


def new_bot_id() -> str:
    """A bot id: 12 hex digits and their suffix."""
    return f"{secrets.token_hex(6)}@im.bot"


def new_bot_token(bot_id: str) -> str:
    """A bot token: the bot id, a colon and hex."""
    return f"{bot_id}:{secrets.token_hex(16)}"


def opaque(length_bytes: int = 25) -> str:
    """A random base64 string; at the default length it holds a `=` and often `+` and `/`, which URLs must escape."""
    return base64.b64encode(os.urandom(length_bytes)).decode("ascii")


def message_ids(first: int | None) -> Iterator[int]:
    """Consecutive uint64 ids above 2^53, so that a reader that goes through floats makes them collide.

    They start from the clock, so that a restarted server does not give an id a second time.
    """
    return itertools.count(first if first is not None else int(time.time() * 1000) << 20)
