"""Who may send events: keys are known by their SHA-256 only, which says nothing about a random key."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from wechat_bridge.model.event_rules import ApiKey, EventRules, fits

PREFIX = "wbk_"


def new_key() -> str:
    """Return a key that nobody else has: 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(key: str) -> str:
    """Return what of a key is kept."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def holder_of(rules: EventRules, key: str) -> ApiKey | None:
    """Return whose key it is, or None. All are compared, so that time tells nothing."""
    given, found = digest(key), None
    for known in rules.keys.values():
        if hmac.compare_digest(known.sha256, given):
            found = known
    return found


def may_send(holder: ApiKey, event_type: str) -> bool:
    """Whether a key is good for a type of event."""
    return any(fits(pattern, event_type) for pattern in holder.types)
