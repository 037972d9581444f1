"""What follows when an event is durable: its window is armed, or its dispatch is rung."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wechat_bridge.errors import BrokerUnavailable, LedgerUnavailable
from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.stages import said
from wechat_bridge.model.event import Event, EventState
from wechat_bridge.model.event_rules import EventRules, WindowRule
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.windows import Window

log = logger(__name__)


def go_on(gateway: Gateway, events: Sequence[Event]) -> None:
    """Arm or ring for new events. Raises nothing: what fails here the sweep does."""
    for key in {event.window_key: None for event in events if event.state is EventState.WAITING}:
        arm(gateway, [event for event in events if event.window_key == key])
    for event in events:
        if event.state is EventState.QUEUED:
            ring_dispatch(gateway, event.id)


def arm(gateway: Gateway, events: Sequence[Event]) -> None:
    """Arm the window of events that wait under one key."""
    last = events[-1]
    rules = gateway.rules()
    key, urgent = last.window_key or "", any(event.at_once for event in events)
    window = window_of(rules, last.event_type)
    try:
        delay_seconds = gateway.windows.arm(
            key, last.event_type, len(events), window, gateway.clock.now(), is_urgent=urgent
        )
    except LedgerUnavailable as error:
        log.warning("window_not_armed", window=key, error=str(error))
        return
    said(last, "debounce", "armed", window=key)
    if delay_seconds is not None:
        ring_window(gateway, key, delay_seconds)


def rule_of(rules: EventRules, event_type: str) -> WindowRule:
    """Return the window rule of a type; one that is not known any more waits for nobody."""
    known = rules.types.get(event_type)
    return known.debounce if known else WindowRule(wait_ms=0)


def window_of(rules: EventRules, event_type: str) -> Window:
    """Return the window of a type. A throttle does not move: its end is one wait after its beginning."""
    rule = rule_of(rules, event_type)
    idle_seconds = rules.wait_seconds(event_type) if event_type in rules.types else 0.0
    is_throttle = rule.mode == "throttle"
    most_seconds = idle_seconds * (1 if is_throttle else rule.most_windows)
    return Window(idle_seconds, most_seconds, 1_000_000 if is_throttle else rule.most_items)


def ring_window(gateway: Gateway, key: str, delay_seconds: float = 0.0) -> None:
    """Ring for a window. A lost doorbell costs seconds: the due time is in the ledger, the sweep sees it."""
    _ring(lambda: gateway.doorbells.ring_window(key, delay_seconds), window=key)


def ring_dispatch(gateway: Gateway, event_id: str) -> None:
    """Ring for an event that is to be handed over."""
    _ring(lambda: gateway.doorbells.ring_dispatch(event_id), event_id=event_id)


def ring_dead(gateway: Gateway, event_id: str) -> None:
    """Ring for an event that was given up."""
    _ring(lambda: gateway.doorbells.ring_dead_event(event_id), event_id=event_id)


def _ring(act: Callable[[], None], **about: str) -> None:
    try:
        act()
    except BrokerUnavailable as error:
        log.warning("ring_failed", error=str(error), **about)
