"""Judge a configuration: everything that is wrong with it at once, each by its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from wechat_bridge.errors import SettingsError
from wechat_bridge.flow.configuration.document import PARTS
from wechat_bridge.flow.configuration.sections import Faults, merged, place_of, reason_of
from wechat_bridge.live import InForce
from wechat_bridge.model.configuration import Document, written
from wechat_bridge.model.event_rules import EventRules
from wechat_bridge.settings import Settings

RulesCheck = Callable[[EventRules], None]
"""Looks for what the model of the rules cannot see: templates, schemas, descriptors. Raises SettingsError."""


class Judge:
    """Knows the environment's settings, which a document changes, and who else looks at rules."""

    def __init__(self, base: Settings, rules_checks: Sequence[RulesCheck] = ()) -> None:
        self.base = base
        self._rules_checks = rules_checks

    def in_force(self, document: Document, version: int) -> InForce:
        """Return what is in force with a document. Raises SettingsError with a line for each fault."""
        faults: Faults = [((str(name),), f"there are {' and '.join(PARTS)}") for name in document if name not in PARTS]
        settings = merged(self.base, _part(document, "settings", faults), faults)
        rules, more = self._rules(_part(document, "events", faults), faults)
        lines = [f"{written(path)}: {reason}" for path, reason in faults] + more
        if not lines and not _is_text(document):
            lines = ["it has characters that are none (half a surrogate pair)"]
        if lines:
            raise SettingsError("\n".join(lines))
        return InForce(version, settings, rules)

    def _rules(self, given: Mapping[str, Any], faults: Faults) -> tuple[EventRules, list[str]]:
        try:
            rules = EventRules.model_validate(given)
        except ValidationError as error:
            faults += [(("events", *place_of(row["loc"], given)), reason_of(row)) for row in error.errors()]
            return EventRules(), []
        return rules, [line for check in self._rules_checks for line in _complaints(check, rules)]


def _part(document: Document, name: str, faults: Faults) -> Mapping[str, Any]:
    part = document.get(name, {})
    if isinstance(part, Mapping):
        return part
    faults.append(((name,), "should be an object"))
    return {}


def _complaints(check: RulesCheck, rules: EventRules) -> list[str]:
    try:
        check(rules)
    except SettingsError as error:
        return [f"events{'.' if _is_place(line) else ': '}{line}" for line in str(error).splitlines()]
    return []


def _is_place(line: str) -> bool:
    return line.partition(".")[0] in EventRules.model_fields


def _is_text(document: Document) -> bool:
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
