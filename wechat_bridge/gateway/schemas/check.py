"""What is wrong with the schemas and formats of rules, found before they are in force."""

from __future__ import annotations

from wechat_bridge.errors import SettingsError
from wechat_bridge.gateway.adapters.check import faults as format_faults
from wechat_bridge.gateway.schemas.models import load_models
from wechat_bridge.gateway.schemas.registry import rule_faults
from wechat_bridge.model.event_rules import EventRules


def check_rules(rules: EventRules) -> None:
    """Raises SettingsError with one line for each fault: type and path, what is wrong, what it should be.

    It knows models, JSON Schemas (nothing is ever fetched), patterns, descriptor sets and binary layouts.
    """
    models = load_models()
    faults = [fault for name, each in rules.types.items() for fault in rule_faults(name, each.schema_, models)]
    faults += format_faults(rules)
    if faults:
        raise SettingsError("\n".join(faults))
