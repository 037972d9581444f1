"""What an error does to a claimed event: try again, or give up."""

from __future__ import annotations

import traceback
from typing import Any

from wechat_bridge.errors import BridgeError, DispatchUnavailable, LedgerUnavailable, OwnerStale
from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.go_on import ring_dead
from wechat_bridge.gateway.stages import said
from wechat_bridge.model.event import Event, EventState
from wechat_bridge.model.event_rules import RetryRule
from wechat_bridge.model.outcome import Done, GiveUp, Outcome, RetryBudget, RetryIn, decide

STALE_SECONDS = 5.0


def failed(gateway: Gateway, event: Event, error: BridgeError) -> Outcome:
    """Write what an error of this claim leads to, and return it. Done when the claim is not ours any more."""
    outcome = RetryIn(STALE_SECONDS) if isinstance(error, OwnerStale) else decided(gateway, event, error)
    said(event, "dispatch", "failed", attempt=event.attempts, error=str(error), outcome=type(outcome).__name__)

    def write() -> Outcome:
        return _settle(gateway, event, error, outcome)

    try:
        return write()
    except LedgerUnavailable:
        gateway.unfinished.add(f"failure {event.id}", write)
        raise


def crashed(gateway: Gateway, event_id: str, error: Exception) -> Outcome:
    """Count an error nobody expected against an event, if this process holds it: it may have reached its target."""
    event = gateway.events.get(event_id)
    if event is None or event.state is not EventState.DISPATCHING or event.owner != gateway.owner:
        return Done()
    named = DispatchUnavailable(f"{type(error).__name__} in the bridge itself; see the log", may_have_effect=True)
    named.__cause__ = error
    return failed(gateway, event, named)


def decided(gateway: Gateway, event: Event, error: BridgeError) -> Outcome:
    """Return what the retry rule of the event's type says."""
    rule = retry_rule(gateway, event.event_type)
    outcome = decide(error, event.attempts, RetryBudget(rule.max_retries, rule.base_seconds, rule.cap_seconds))
    return outcome if isinstance(outcome, RetryIn | GiveUp) else GiveUp(f"{type(error).__name__}: {error}")


def retry_rule(gateway: Gateway, event_type: str) -> RetryRule:
    """Return how a type is tried again."""
    known = gateway.rules().types.get(event_type)
    return known.retry if known else RetryRule()


def _settle(gateway: Gateway, event: Event, error: BridgeError, outcome: Outcome) -> Outcome:
    changes = _told(event, error)
    if isinstance(outcome, RetryIn):
        at = gateway.clock.after(outcome.seconds)
        ring_at = gateway.clock.after(outcome.seconds + gateway.ring_again_seconds)
        return outcome if gateway.events.retry(event, at, ring_at, changes) else Done()
    look_again = gateway.clock.after(gateway.ring_again_seconds)
    if not gateway.events.finish(event, EventState.DEAD, changes, look_again):
        return Done()
    ring_dead(gateway, event.id)
    return outcome


def _told(event: Event, error: BridgeError) -> dict[str, Any]:
    reached = isinstance(error, DispatchUnavailable) and error.may_have_effect
    return {
        "error": str(error),
        "error_class": type(error).__name__,
        "failed_stage": "dispatch",
        "traceback": "".join(traceback.format_exception(error)),
        "may_have_effect": event.may_have_effect or reached,
    }
