"""Hand an event over to whoever its route names."""

from __future__ import annotations

from functools import partial

from wechat_bridge.errors import BridgeError, LedgerUnavailable
from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.failure import failed
from wechat_bridge.gateway.go_on import rule_of
from wechat_bridge.gateway.merge import merged
from wechat_bridge.gateway.routes import route_of
from wechat_bridge.gateway.stages import said, stage
from wechat_bridge.gateway.windows import unblock
from wechat_bridge.model import keys
from wechat_bridge.model.event import Event, EventState
from wechat_bridge.model.event_rules import HttpTarget
from wechat_bridge.model.outcome import Done, Outcome
from wechat_bridge.observe import metrics
from wechat_bridge.observe.logging import logger

log = logger(__name__)

LEASE_SECONDS = 60.0
"""Others take over then, should this process live and do nothing; longer where a target may take longer."""

NOTHING_LEFT = "its sources went on otherwise"


def dispatch_event(gateway: Gateway, event_id: str) -> Outcome:
    """Claim an event that is due and hand it over. Raises OwnerStale before claiming."""
    gateway.alive.check()
    event = _claimed(gateway, event_id)
    if event is None:
        return Done()
    with stage("dispatch") as timed:
        try:
            if event.sources and not _fill(gateway, event):
                return _end(gateway, event, EventState.SKIPPED, NOTHING_LEFT)
            target = route_of(gateway.rules(), event)
            gateway.alive.check()
            gateway.targets[target.kind].deliver(target, event)
        except BridgeError as error:
            return failed(gateway, event, error)
        said(event, "dispatch", "ok", timed, attempt=event.attempts, target=target.kind)
    return _end(gateway, event, EventState.DONE, "")


def close(gateway: Gateway, event: Event) -> None:
    """End what has ended wholly: its lane is free, what waited behind it is due. Idempotent."""
    if event.sources:
        gateway.events.take_sources(event)
    gateway.events.close(event.id)
    if event.lane:
        unblock(gateway, event.lane)


def _claimed(gateway: Gateway, event_id: str) -> Event | None:
    claim, now = keys.new_token(), gateway.clock.now()
    lease_until = gateway.clock.after(_lease_seconds(gateway))
    try:
        return gateway.events.claim(event_id, gateway.owner, now, lease_until, claim)
    except LedgerUnavailable:
        # It may have been made all the same; nobody would know until the lease has run out.
        gateway.unfinished.add(f"claim {claim}", partial(gateway.events.unclaim, event_id, claim, now))
        raise


def _lease_seconds(gateway: Gateway) -> float:
    targets = (route.target for route in gateway.rules().routes)
    longest = max((target.timeout_seconds for target in targets if isinstance(target, HttpTarget)), default=0.0)
    return LEASE_SECONDS + longest


def _fill(gateway: Gateway, batch: Event) -> bool:
    """Merge what a batch owns; False when that is nothing."""
    owned = gateway.events.take_sources(batch)
    if not owned:
        return False
    batch.payload = merged(rule_of(gateway.rules(), batch.event_type).mode, owned)
    if batch.attempts == 1:
        metrics.debounced_total.inc(len(owned) - 1)
        said(batch, "debounce", "merged", sources=[event.id for event in owned],
             traces=[event.trace_id for event in owned])  # fmt: skip
    return gateway.events.write(batch, {"payload": batch.payload})


def _end(gateway: Gateway, event: Event, state: EventState, reason: str) -> Outcome:
    """Write that an event has ended; if the ledger refuses, this process does so as soon as it can."""

    def write() -> None:
        look_again = gateway.clock.after(gateway.ring_again_seconds) if event.open else None
        if gateway.events.finish(event, state, {"reason": reason, "may_have_effect": True}, look_again) and event.open:
            close(gateway, event)

    try:
        write()
    except LedgerUnavailable:
        gateway.unfinished.add(f"end {event.id}", write)
        raise
    return Done()
