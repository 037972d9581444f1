"""Rules with one schema, and events to hold to it."""

from __future__ import annotations

from typing import Any

import pytest

from wechat_bridge.errors import ValidationError
from wechat_bridge.gateway.schemas.registry import Schemas
from wechat_bridge.model.event_rules import EventRules

LOGIN: dict[str, Any] = {
    "eventType": "user.login",
    "userId": "6f1c0a52-0c0e-4a5b-8c0f-2f6d3f1f0a11",
    "ip": "192.0.2.7",
    "timestamp": "2026-11-30T08:00:00+08:00",
}
PAYMENT: dict[str, Any] = {"eventType": "payment.callback", "orderId": "007", "amount": 12.5, "status": "SUCCESS"}


def rules(types: dict[str, dict[str, Any]] | None = None, **more: Any) -> EventRules:
    """Rules with these schemas by type; without any those of the two examples."""
    found = types or {
        "user.login": {"model": "user.login"},
        "payment.callback": {"model": "payment.callback", "mode": "passthrough"},
    }
    return EventRules.model_validate({"types": {name: {"schema": each} for name, each in found.items()}, **more})


def schemas(types: dict[str, dict[str, Any]] | None = None, **more: Any) -> Schemas:
    """Schemas of those rules."""
    return Schemas.from_rules(rules(types, **more))


def of(json_schema: dict[str, Any], mode: str = "strict") -> Schemas:
    """Schemas with one JSON Schema, for the type ``e``."""
    return schemas({"e": {"json_schema": json_schema, "mode": mode}})


def faults(held_to: Schemas, event_type: str, payload: dict[str, Any]) -> dict[str, str]:
    """What is wrong with a payload, by path."""
    with pytest.raises(ValidationError) as refused:
        held_to.validate(event_type, payload)
    assert (refused.value.stage, refused.value.status) == ("validate", 400)
    shown = refused.value.__context__ is not None and not refused.value.__suppress_context__
    assert not shown, "what the library says quotes values"
    return dict(refused.value.errors)
