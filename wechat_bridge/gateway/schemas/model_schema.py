"""Payloads by a pydantic model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import pydantic
from pydantic import BaseModel

from wechat_bridge.gateway.schemas.faults import Fault, path_of, refusal, shortened
from wechat_bridge.gateway.schemas.keywords import UNKNOWN_FIELD
from wechat_bridge.model.event import JsonObject

SAFE = frozenset({
    "missing", "literal_error", "enum", "too_short", "too_long", "string_too_short", "string_too_long",
    "string_pattern_mismatch", "greater_than", "greater_than_equal", "less_than", "less_than_equal", "multiple_of",
    "finite_number", "decimal_max_digits", "decimal_max_places", "decimal_whole_digits", "timezone_aware",
    "timezone_naive", "ip_any_address", "ip_v4_address", "ip_v6_address", "none_required",
})  # fmt: skip
"""Kinds of errors whose message quotes the model only; ``*_type`` (should be a string) and ``event_*`` are, too."""

FAILURES = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RuntimeError)
"""What a package's model may raise on hostile input without anybody having thought of it."""


class ModelSchema:
    """Holds payloads to a model; its mode, not the model's own configuration, decides about unknown fields."""

    def __init__(self, model: type[BaseModel], mode: Literal["strict", "passthrough"]) -> None:
        self._model = model
        self._extra: Literal["forbid", "allow"] = "forbid" if mode == "strict" else "allow"
        self._names = frozenset(field.alias or name for name, field in model.model_fields.items())

    def describes(self, name: str) -> bool:
        """Tell whether the model has a field of this name."""
        return name in self._names

    def validated(self, payload: JsonObject) -> JsonObject:
        """Return what the model makes of the payload; what it does not know, as it came.

        Raises ValidationError with all that is wrong.
        """
        try:
            made = self._model.model_validate(payload, extra=self._extra)
            typed = made.model_dump(mode="json", by_alias=True, exclude_unset=True)
        except pydantic.ValidationError as error:
            raise refusal(_faults(error)) from None
        except FAILURES as error:
            raise refusal([("", f"cannot be held to its model ({type(error).__name__})")]) from None
        return {name: _overlaid(payload.get(name), typed[name]) if name in typed else payload[name]
                for name in {**payload, **typed}}  # fmt: skip


def _overlaid(given: Any, typed: Any) -> Any:
    """Return a typed value together with what was given beside it and the model does not know."""
    if isinstance(given, dict) and isinstance(typed, dict):
        return {name: _overlaid(given.get(name), typed[name]) if name in typed else given[name]
                for name in {**given, **typed}}  # fmt: skip
    if isinstance(given, list) and isinstance(typed, list) and len(given) == len(typed):
        return [_overlaid(*pair) for pair in zip(given, typed, strict=True)]
    return typed


def _faults(error: pydantic.ValidationError) -> Iterator[Fault]:
    for each in error.errors(include_url=False, include_input=False, include_context=False):
        yield path_of(each["loc"]), _reason(each)


def _reason(fault: Mapping[str, Any]) -> str:
    kind = fault["type"]
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return UNKNOWN_FIELD
    if kind in SAFE or kind.endswith("_type") or kind.startswith("event_"):
        return shortened(fault["msg"].removeprefix("Input "))
    return f"is not valid ({kind})"
