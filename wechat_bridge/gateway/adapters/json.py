"""JSON (RFC 8259), strictly: no repeated names, no NaN, no rounding, no half characters."""

from __future__ import annotations

import json
from typing import Any

from wechat_bridge.errors import MessageParseError
from wechat_bridge.gateway.adapters.base import ContentType
from wechat_bridge.gateway.adapters.json_size import check_size
from wechat_bridge.gateway.adapters.limits import measured, too_deep
from wechat_bridge.gateway.adapters.numbers import exact_decimal, exact_integer
from wechat_bridge.gateway.adapters.text import decoded
from wechat_bridge.model.event import JsonObject
from wechat_bridge.model.event_rules import Limits

TYPES = frozenset({"application/json", "text/json"})


class JsonAdapter:
    """Reads ``application/json``, ``text/json`` and all that end with ``+json``. See ``numbers`` for what is exact."""

    name = "json"

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def can_parse(self, content_type: ContentType) -> bool:
        """Tell whether it is JSON."""
        return content_type.type in TYPES or content_type.type.endswith("+json")

    def parse(self, raw: bytes, content_type: ContentType) -> JsonObject:
        """Return the object. Raises MessageParseError, PayloadTooLarge."""
        text = decoded(raw, content_type)
        check_size(text, self._limits)
        try:
            return measured(_loaded(text), self._limits)
        except RecursionError as error:
            raise too_deep(self._limits) from error
        except ValueError as error:
            raise MessageParseError(f"it is not the JSON that it should be: {error}") from error


def _loaded(text: str) -> object:
    return json.loads(
        text,
        parse_int=exact_integer,
        parse_float=exact_decimal,
        object_pairs_hook=_without_repeats,
    )


def _without_repeats(pairs: list[tuple[str, Any]]) -> JsonObject:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("an object has the same name twice")
    return fields
