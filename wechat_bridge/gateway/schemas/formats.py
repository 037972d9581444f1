"""The formats that JSON Schemas may name, each really checked."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from ipaddress import ip_address
from urllib.parse import urlsplit
from uuid import UUID

from jsonschema import FormatChecker

_DATE = r"\d{4}-\d{2}-\d{2}"
_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([zZ]|[+-]([01]\d|2[0-3]):[0-5]\d)"
_FULL_DATE = re.compile(_DATE, re.ASCII)
_FULL_TIME = re.compile(_TIME, re.ASCII)
_DATE_TIME = re.compile(f"({_DATE})[tT ]{_TIME}", re.ASCII)
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*", re.ASCII)
_EMAIL = re.compile(r"[^\s@\x00-\x1f]{1,64}@([^\s@]{1,255})")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+")


def _date(text: str) -> bool:
    return bool(_FULL_DATE.fullmatch(text)) and bool(date.fromisoformat(text))


def _date_time(text: str) -> bool:
    found = _DATE_TIME.fullmatch(text)
    return found is not None and bool(datetime.fromisoformat(found[1]))


def _email(text: str) -> bool:
    found = _EMAIL.fullmatch(text)
    return found is not None and bool(_HOST.fullmatch(found[1]))


def _uri(text: str) -> bool:
    return bool(_URI.fullmatch(text)) and bool(urlsplit(text).scheme)


FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _date,
    "time": lambda text: bool(_FULL_TIME.fullmatch(text)),
    "date-time": _date_time,
    "email": _email,
    "hostname": lambda text: bool(_HOST.fullmatch(text)),
    "ipv4": lambda text: ip_address(text).version == 4,
    "ipv6": lambda text: ip_address(text).version == 6,
    "uri": _uri,
    "uuid": lambda text: bool(_UUID.fullmatch(text)) and bool(UUID(text)),
}
"""RFC 3339 for dates and times, RFC 4122 for UUIDs. Any other format is refused when rules are checked."""


def _checked(name: str) -> Callable[[object], bool]:
    """Return a check that lets pass what is no text, as JSON Schema wants it."""
    fits = FORMATS[name]
    return lambda value: not isinstance(value, str) or fits(value)


def checker() -> FormatChecker:
    """Return the formats as the validator wants them."""
    found = FormatChecker(formats=())
    for name in FORMATS:
        found.checks(name, raises=ValueError)(_checked(name))
    return found
