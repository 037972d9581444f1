"""Which target an event goes to."""

from __future__ import annotations

from wechat_bridge.errors import DispatchRefused
from wechat_bridge.model.event import Event
from wechat_bridge.model.event_rules import EventRules, Route, Target, fits

ROUTING_KEY = "routing-key"
"""The header by which a sender chooses among routes; a message of a broker has it from the broker."""

MOST_SHOWN_CHARACTERS = 80


def route_of(rules: EventRules, event: Event) -> Target:
    """Return the target of the first route that fits. Raises DispatchRefused where none does."""
    routing_key = event.headers.get(ROUTING_KEY, "")
    for route in rules.routes:
        if _fits(route, event.event_type, routing_key):
            return route.target
    raise DispatchRefused(
        f"no route for events of type {_shown(event.event_type)} with routing key {_shown(routing_key)}; "
        "add one to events.routes, then replay the dead letter"
    )


def _fits(route: Route, event_type: str, routing_key: str) -> bool:
    return fits(route.type, event_type) and route.routing_key in ("", routing_key)


def _shown(text: str) -> str:
    """Quote what a sender chose: control characters are seen as such, and it has an end."""
    return repr(text if len(text) <= MOST_SHOWN_CHARACTERS else f"{text[:MOST_SHOWN_CHARACTERS]}…")
