"""What WeCom's errcodes mean for the work at hand (facts, 4b). They decide, never the HTTP status, and no errmsg."""

from __future__ import annotations

import re

from wechat_bridge.errors import (
    AddressNotTrusted,
    BridgeError,
    ContentRefused,
    CredentialRefused,
    MediaExpired,
    MediaRefused,
    PermissionMissing,
    PlatformBusy,
    PlatformUnavailable,
    QuotaUsedUp,
    RecipientRefused,
)

TOKEN = frozenset({40014, 42001, 40001})
"""The access token is not good any more. 40001 says so only in answer to a call with one."""

_MEDIA_EXPIRED = 40007
"""A media id is older than three days, or of another kind or corp."""

_BUSY = 45033
_QUOTA = 45009
_ADDRESS = frozenset({60020, 301042})
_CREDENTIAL = frozenset({40001, 40013, 40091, 45031})
_RECIPIENT = frozenset({40003, 40031, 43004, 46004, 60011, 60111, 81013, 82001})
_CONTENT = frozenset({40008, 40033, 40035, 40058, 40201, 41016, 41033, 44004, 45002, 45008, 82004})
_CARD_FIELDS = range(42014, 42052)
_MEDIA = frozenset({40004, 40005, 40006, 40009, 40011, 44001, 45001, 45007, 40123, 301016, 301017})
_PERMISSION = {
    48001: "this secret may not call it; use the Secret of the app itself",
    48002: "this secret may not call it; use the Secret of the app itself",
    48004: "the interface is closed for this app; look at the app's permissions",
    48006: "the permission was taken back because it was not used; give it again",
    50002: "somebody is outside what the app may see, or the app is disabled; look at its 可见范围 and status",
    50003: "the app is disabled; enable it",
    301002: "the Secret is of another app than the AgentId; use both from the same page",
    40056: "there is no app of this AgentId; correct it",
    43012: "the app needs a callback URL for this; set one under 接收消息",
}
_BUSY_SECONDS = 5.0
_QUOTA_SECONDS = 60.0
"""A block lasts as long as the window that was used up, which is not said; the shortest is a minute."""

_FROM = re.compile(r"from ip:\s*([0-9a-fA-F.:]{2,45})")


def error_of(code: int, errmsg: str, call: str) -> BridgeError:
    """Return the error that an errcode other than 0 is. ``errmsg`` is free of secrets already."""
    said = f"WeCom refuses {call} with {code} ({errmsg or 'no errmsg'})"
    if code in _PERMISSION:
        return PermissionMissing(f"{said}: {_PERMISSION[code]}", code)
    if code in _ADDRESS:
        return _not_trusted(code, errmsg, said)
    if code in _CREDENTIAL:
        return CredentialRefused(f"{said}: the app's Secret or the corp id is wrong, or the app is disabled", code)
    if code == _QUOTA:
        return QuotaUsedUp(f"{said}: the app's calls are used up for a while", _QUOTA_SECONDS)
    if code == _BUSY:
        return PlatformBusy(f"{said}: too many calls at once", _BUSY_SECONDS)
    return _of_this_message(code, said)


def _of_this_message(code: int, said: str) -> BridgeError:
    if code in _RECIPIENT:
        return RecipientRefused(f"{said}: this person is gone or outside the app's 可见范围; everybody else is reached")
    if code == _MEDIA_EXPIRED:
        return MediaExpired(said)
    if code in _MEDIA:
        return MediaRefused(said)
    if code in _CONTENT or code in _CARD_FIELDS:
        return ContentRefused(said)
    return PlatformUnavailable(f"{said}; it is tried again")


def _not_trusted(code: int, errmsg: str, said: str) -> AddressNotTrusted:
    found = _FROM.search(errmsg)
    address = found[1].rstrip(".:") if found else ""
    return AddressNotTrusted(
        f"{said}: add {address or 'the address from which this bridge calls'} to 企业可信IP of the app; it works about "
        "a minute later",
        code,
        address,
    )
