"""Why WeCom gave no access token, as all processes are told, and for how long nobody asks again."""

from __future__ import annotations

import json

from wechat_bridge.errors import (
    AddressNotTrusted,
    AppHeld,
    BridgeError,
    CredentialRefused,
    PermissionMissing,
    PlatformUnavailable,
    QuotaUsedUp,
    TransientError,
)

WRONG_SECRET_SECONDS = (60.0, 3_600.0)
"""First and longest pause; WeCom bans an address for an hour that tries a wrong secret again and again."""

HELD_SECONDS = (30.0, 600.0)
PASSING_SECONDS = (2.0, 60.0)


def pause_of(error: BridgeError) -> tuple[str, float, float, float]:
    """Return the kind of a failure, the first and longest pause after it, and the pause that was asked for, or 0."""
    if isinstance(error, CredentialRefused):
        return "secret", *WRONG_SECRET_SECONDS, 0.0
    if isinstance(error, AppHeld):
        return "held", *HELD_SECONDS, 0.0
    asked = error.retry_after_seconds if isinstance(error, TransientError) else None
    return "passing", *PASSING_SECONDS, asked or 0.0


def written(error: BridgeError) -> str:
    """Return an error as it stands in Redis."""
    code = error.code if isinstance(error, AppHeld) else 0
    address = error.address if isinstance(error, AddressNotTrusted) else ""
    return json.dumps([type(error).__name__, str(error), code, address])


def remembered(text: str, seconds: float) -> BridgeError:
    """Return the error that stands in Redis; nobody asks for so many ``seconds``."""
    name, message, code, address = json.loads(text)
    message = f"{message} (asked for again in {seconds:.0f} s at the earliest)"
    if name == AddressNotTrusted.__name__:
        return AddressNotTrusted(message, code, address)
    for held in (CredentialRefused, PermissionMissing):
        if name == held.__name__:
            return held(message, code)
    return (QuotaUsedUp if name == QuotaUsedUp.__name__ else PlatformUnavailable)(message, seconds)
