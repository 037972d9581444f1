"""Payloads by a JSON Schema of the configuration."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal

from jsonschema import ValidationError as Error
from referencing import Registry

from wechat_bridge.gateway.schemas.faults import MOST_FAULTS, Fault, path_of, refusal, shortened
from wechat_bridge.gateway.schemas.formats import checker
from wechat_bridge.gateway.schemas.keywords import OWN, EventValidator
from wechat_bridge.gateway.schemas.parts import Schema
from wechat_bridge.gateway.schemas.steps import TooManySteps, limited
from wechat_bridge.gateway.schemas.strict import prepared
from wechat_bridge.model.event import JsonObject

REASONS = {
    "type": "should be {}",
    "enum": "should be one of {}",
    "const": "should be {}",
    "format": "should be a valid {}",
    "minimum": "should be at least {}",
    "maximum": "should be at most {}",
    "exclusiveMinimum": "should be more than {}",
    "exclusiveMaximum": "should be less than {}",
    "minLength": "should have at least {} characters",
    "maxLength": "should have at most {} characters",
    "minItems": "should have at least {} items",
    "maxItems": "should have at most {} items",
    "minProperties": "should have at least {} fields",
    "maxProperties": "should have at most {} fields",
    "anyOf": "fits none of the alternatives",
    "oneOf": "should fit exactly one of the alternatives",
    "unevaluatedProperties": "has fields that are not known",
}


class JsonSchema:
    """Holds payloads to a schema (draft 2020-12) that ``json_schema_check`` found good; nothing is ever fetched."""

    def __init__(self, schema: Schema, mode: Literal["strict", "passthrough"]) -> None:
        self._names = frozenset(schema.get("properties", ()))
        made = prepared(schema, strict=mode == "strict")
        self._validator: Any = EventValidator(made, format_checker=checker(), registry=Registry())

    def describes(self, name: str) -> bool:
        """Tell whether the schema itself says something about a field of this name."""
        return name in self._names

    def validated(self, payload: JsonObject) -> JsonObject:
        """Return the payload, as it came. Raises ValidationError with all that is wrong."""
        with limited(payload):
            faults = list(islice(self._faults(payload), MOST_FAULTS + 1))
        if faults:
            raise refusal(faults)
        return payload

    def _faults(self, payload: JsonObject) -> Iterator[Fault]:
        try:
            yield from (
                (path_of(error.absolute_path), _reason(error)) for error in self._validator.iter_errors(payload)
            )
        except RecursionError:
            yield "", "is nested deeper than its schema can be followed"
        except TooManySteps:
            yield "", "takes too many steps to hold to its schema"


def _reason(error: Error) -> str:
    """Say what is wrong in words that quote the schema, never the payload."""
    keyword = str(error.validator)
    if keyword in OWN:
        return shortened(error.message)
    return shortened(REASONS.get(keyword, f"does not fit {keyword}").format(_listed(error.validator_value)))


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
