"""Keeps secrets out of whatever people read: by the name of a value, and by the look of a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MASK = "***"

SECRET_PARTS = ("token", "password", "secret", "authorization", "api_key", "apikey", "aes_key", "aeskey", "cookie")
"""A text whose name contains one of these is a secret."""

_NAMED = re.compile(
    r"""(?ix) ( (?: token | password | passwd | secret | api[_-]?key | aes[_-]?key | echostr ) ["']? \s* [=:] \s*
    ["']? ) [^\s"'&,;)}\]]+"""
)
_SPOKEN = re.compile(r"(?i)\b(bearer|basic)\s+(?=\S*[\d=])[\w.~+/=@-]{6,}")  # "basic authentication" has no digit
_IN_ADDRESS = re.compile(r"(://[^/\s:@]*:)[^/\s@]+@")
_ENGINE_KEY = re.compile(r"\b(sk|fastgpt|app)-[\w-]{16,}")
_SEALED = re.compile(r"gAAAA[\w-]{40,}(?:=|%3[dD]){0,2}")  # Fernet: links to media, stored credentials


def is_secret(name: str) -> bool:
    """Whether a value of this name is a secret."""
    return any(part in name.lower() for part in SECRET_PARTS)


def masked_text(text: str) -> str:
    """Return the text without what looks like a secret.

    That is: named values, bearer tokens, passwords in URLs, engine keys, and what was sealed with the secret keys.
    """
    text = _IN_ADDRESS.sub(rf"\1{MASK}@", text)
    text = _SPOKEN.sub(rf"\1 {MASK}", text)
    text = _ENGINE_KEY.sub(MASK, text)
    text = _SEALED.sub(MASK, text)
    return _NAMED.sub(rf"\1{MASK}", text)


def masked(value: Any, name: str = "") -> Any:
    """Return a value as people may see it. Numbers are no secrets, whatever their name (``prompt_tokens``)."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if is_secret(name):
        return MASK
    if isinstance(value, str):
        return masked_text(value)
    if isinstance(value, Mapping):
        return {key: masked(part, str(key)) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked(part) for part in value]
    return value
