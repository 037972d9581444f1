"""Puts values into a payload by the path of their field, as in ``user.id``."""

from __future__ import annotations

from typing import Any

from wechat_bridge.errors import MessageParseError
from wechat_bridge.model.event import JsonObject


def put(payload: JsonObject, path: str, value: Any) -> None:
    """Set a field; objects on the way are made. Raises MessageParseError where something else stands in the way."""
    *way, name = path.split(".")
    for step in way:
        inside = payload.setdefault(step, {})
        if not isinstance(inside, dict):
            raise MessageParseError("a field that should have fields is a value")
        payload = inside
    payload[name] = value


def put_missing(payload: JsonObject, path: str, value: str) -> None:
    """Set a field of texts that is missing or "", unless something else stands in the way."""
    inside: Any = payload
    for step in path.split(".")[:-1]:
        inside = inside.get(step, {})
        if not isinstance(inside, dict):
            return
    if value and inside.get(path.rpartition(".")[2], "") == "":
        put(payload, path, value)
