"""The schema of each type of event, built once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import BaseModel

from wechat_bridge.errors import SettingsError, ValidationError
from wechat_bridge.gateway.schemas.faults import shortened
from wechat_bridge.gateway.schemas.json_schema import JsonSchema
from wechat_bridge.gateway.schemas.json_schema_check import schema_faults
from wechat_bridge.gateway.schemas.model_schema import ModelSchema
from wechat_bridge.gateway.schemas.models import load_models
from wechat_bridge.model.event import JsonObject
from wechat_bridge.model.event_rules import EventRules, SchemaRule

UNSUPPORTED = "Unsupported event type"


class PayloadSchema(Protocol):
    """What payloads of one type are held to."""

    def describes(self, name: str) -> bool:
        """Tell whether it says something about a field of this name."""

    def validated(self, payload: JsonObject) -> JsonObject:
        """Return the typed payload. Raises ValidationError."""


class Schemas:
    """Schemas by type of event; ``type_field`` is where a payload says its type."""

    def __init__(self, schemas: Mapping[str, PayloadSchema], type_field: str) -> None:
        self._schemas = schemas
        self._type_field = type_field

    @classmethod
    def from_rules(cls, rules: EventRules) -> Schemas:
        """Build all. Raises SettingsError, naming type and path, for a schema that cannot be used."""
        models = load_models() if any(each.schema_.model for each in rules.types.values()) else {}
        if faults := [fault for name, each in rules.types.items() for fault in rule_faults(name, each.schema_, models)]:
            raise SettingsError("\n".join(faults))
        built = {name: _built(each.schema_, models) for name, each in rules.types.items()}
        return cls(built, rules.type_field)

    def validate(self, event_type: str, payload: JsonObject) -> JsonObject:
        """Return the typed payload, which is what JSON knows. Raises ValidationError with all that is wrong.

        The field that names the type belongs to the envelope: a schema that does not mention it lets it pass.
        """
        schema = self._schemas.get(event_type)
        if schema is None:
            raise ValidationError(UNSUPPORTED, [(self._type_field, self._unknown(event_type))])
        name = self._type_field
        if name not in payload or schema.describes(name):
            return schema.validated(payload)
        others = schema.validated({each: value for each, value in payload.items() if each != name})
        return {name: payload[name], **others}

    def _unknown(self, event_type: str) -> str:
        if not event_type:
            return "is missing"
        stated = repr(event_type[:128])
        return shortened(f"is {stated}, which is not among those that are configured")


def rule_faults(event_type: str, rule: SchemaRule, models: Mapping[str, type[BaseModel]]) -> list[str]:
    """Return one line for each fault of a type's schema: its path in the rules, and what is wrong there."""
    at = f"types.{event_type}.schema"
    if rule.json_schema is None:
        known = ", ".join(sorted(models))
        return [] if rule.model in models else [f"{at}.model: there is no {rule.model!r}; there are {known}"]
    return [f"{at}.json_schema{_joined(path)}: {reason}" for path, reason in schema_faults(rule.json_schema)]


def _joined(path: str) -> str:
    return path if not path or path.startswith("[") else f".{path}"


def _built(rule: SchemaRule, models: Mapping[str, type[BaseModel]]) -> PayloadSchema:
    if rule.json_schema is None:
        return ModelSchema(models[rule.model], rule.mode)
    return JsonSchema(rule.json_schema, rule.mode)
