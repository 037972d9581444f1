"""What is wrong with rules beyond what their model sees, found before they are in force."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from wechat_bridge.errors import SettingsError
from wechat_bridge.gateway.dedupe_keys import check_rule
from wechat_bridge.gateway.templates import check_template, check_text
from wechat_bridge.model.event_rules import ConversationTarget, EventRules

T = TypeVar("T")


def check(rules: EventRules) -> None:
    """Raise SettingsError with one line for each fault of schemas, formats, keys and templates."""
    faults = [*_formats(rules), *_keys(rules), *_texts(rules)]
    if faults:
        raise SettingsError("\n".join(faults))


def _formats(rules: EventRules) -> list[str]:
    """Look at schemas and formats where there are any; what knows them is loaded only then."""
    if not (rules.types or rules.protobuf or rules.binary):
        return []
    from wechat_bridge.gateway.schemas.check import check_rules  # noqa: PLC0415

    return _told("", check_rules, rules)


def _keys(rules: EventRules) -> Iterator[str]:
    for name, each in rules.types.items():
        yield from _told(f"types.{name}.dedupe: ", check_rule, each.dedupe)
        if each.degrade == "closed" and each.dedupe.by == "none":
            yield f"types.{name}.degrade: closed needs dedupe: without it Redis is not asked, so it is never away"
        yield from _told(f"types.{name}.debounce.key: ", check_template, each.debounce.key)


def _texts(rules: EventRules) -> Iterator[str]:
    for number, route in enumerate(rules.routes):
        if isinstance(route.target, ConversationTarget):
            yield from _told(f"routes.{number}.target.user: ", check_text, route.target.user)
            yield from _told(f"routes.{number}.target.text: ", check_text, route.target.text)


def _told(place: str, look: Callable[[T], None], what: T) -> list[str]:
    try:
        look(what)
    except SettingsError as error:
        return [f"{place}{line}" for line in str(error).splitlines()]
    return []
