"""Which hosts a login may lead to. A redirect, and the address of the account, come from the network."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

_HOST = re.compile(r"([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::([0-9]{1,5}))?", re.ASCII)
_LOOPBACK = frozenset({"127.0.0.1", "localhost"})
_LONGEST = 253


def redirect_url(host: str, api_base: str, allowed: Sequence[str]) -> str | None:
    """Return where to ask from now on, or None when ``host`` (with a port or not) may not be asked.

    It is always https, as iLink has it, except on loopback, where a simulator speaks plain http. ``api_base``, which an
    operator chose, may name itself. ``allowed`` are host names; ``*.example.com`` is every host below example.com.
    """
    name = host.lower()
    if name == urlsplit(api_base).netloc.lower():
        return api_base
    found = _HOST.fullmatch(name) if len(name) <= _LONGEST else None
    if found is None or not any(_fits(found[1], pattern.lower()) for pattern in allowed):
        return None
    if found[2] is not None and not 0 < int(found[2]) < 65_536:
        return None
    return f"{'http' if found[1] in _LOOPBACK else 'https'}://{name}"


def may_use(base_url: str, api_base: str, allowed: Sequence[str]) -> bool:
    """Whether the account of a login may be used at the address that WeChat names for it."""
    try:
        parts = urlsplit(base_url)
    except ValueError:
        return False
    known = redirect_url(parts.netloc, api_base, allowed)
    return known is not None and parts.scheme == urlsplit(known).scheme and not parts.query and not parts.fragment


def _fits(host: str, pattern: str) -> bool:
    return host.endswith(pattern[1:]) and len(host) >= len(pattern) if pattern.startswith("*.") else host == pattern
