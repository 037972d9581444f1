"""The rules in force, with what is built from them once: adapters and schemas."""

from __future__ import annotations

from dataclasses import dataclass

from wechat_bridge.gateway.adapters.registry import Adapters
from wechat_bridge.gateway.schemas.registry import Schemas
from wechat_bridge.model.event_rules import EventRules


@dataclass(frozen=True)
class Compiled:
    """Rules, and the adapters and schemas that belong to them."""

    rules: EventRules
    adapters: Adapters
    schemas: Schemas


def compiled(rules: EventRules) -> Compiled:
    """Build adapters and schemas. Raises SettingsError where the rules do not allow it."""
    return Compiled(rules, Adapters.from_rules(rules), Schemas.from_rules(rules))
