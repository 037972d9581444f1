"""Making up ids and secrets in the shapes of the real ones."""

from __future__ import annotations

import secrets
import string
from collections.abc import Iterator
from itertools import count

ALPHANUMERIC = string.ascii_letters + string.digits
# Beyond 2^53, as real ones are: a client that reads them through a float shows itself.
FIRST_MESSAGE_ID = 7_459_035_031_717_794_887
FIRST_AGENT_ID = 1_000_002


def random_text(length: int) -> str:
    """Letters and digits."""
    return "".join(secrets.choice(ALPHANUMERIC) for _ in range(length))


def new_corp_id() -> str:
    """``ww`` and 16 hex digits."""
    return f"ww{secrets.token_hex(8)}"


def new_encoding_aes_key() -> str:
    """43 letters and digits; the last one is such that strict decoders accept them."""
    return random_text(42) + secrets.choice("AEIMQUYcgkosw048")


def new_access_token() -> str:
    """As long as real ones are at most today; clients must leave room for 512."""
    return random_text(214)


def numbers(first: int) -> Iterator[int]:
    """Ids of which no two are equal."""
    return count(first)
