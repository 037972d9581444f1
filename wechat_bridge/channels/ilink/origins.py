"""Which addresses media may be fetched from and sent to. Messages bring addresses, and anybody can write a message."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from wechat_bridge.model.media import ORIGIN_PATTERN

_ORIGIN = re.compile(ORIGIN_PATTERN, re.ASCII)
_URL = re.compile(r"(?i)https?://[a-z0-9.-]+(?::[0-9]{1,5})?(?:[/?][!-\[\]-~]*)?", re.ASCII)
_PORTS = {"http": "80", "https": "443"}
_LONGEST_URL = 8_192


@dataclass(frozen=True, slots=True)
class Origins:
    """The origins that are allowed, in the way of ORIGIN_PATTERN.

    Only plainly written addresses are ever allowed, without user names, backslashes, spaces or brackets: what two
    parsers could read in two ways is refused.
    """

    allowed: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(cls, written: Iterable[str]) -> Origins:
        """Read what is written as ORIGIN_PATTERN says; anything else allows nothing."""
        found = (_ORIGIN.fullmatch(entry) for entry in written)
        return cls(tuple((each[1], each[2], each[3] or _PORTS[each[1]]) for each in found if each))

    def allow(self, url: str) -> bool:
        """Whether a request may go to ``url``."""
        if len(url) > _LONGEST_URL or not _URL.fullmatch(url):
            return False
        parts = urlsplit(url)
        host, port = parts.netloc.lower().partition(":")[::2]
        return any(
            parts.scheme.lower() == scheme
            and _fits(host.rstrip("."), pattern)
            and allowed_port in ("*", port or _PORTS[scheme])
            for scheme, pattern, allowed_port in self.allowed
        )


def _fits(host: str, pattern: str) -> bool:
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and len(host) > len(pattern) - 1
    return host == pattern
