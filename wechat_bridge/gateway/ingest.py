"""Take events: parse, validate, find what is known already, make the rest durable. Only then is anybody answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from wechat_bridge.errors import EventRefused, LedgerUnavailable, ValidationError
from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.dedupe import Claim, Wanted
from wechat_bridge.gateway.dedupe_keys import dedup_key
from wechat_bridge.gateway.go_on import go_on
from wechat_bridge.gateway.incoming import Incoming, envelope_of
from wechat_bridge.gateway.keep import keep
from wechat_bridge.gateway.stages import said, stage
from wechat_bridge.gateway.templates import KeyMissing, find, render
from wechat_bridge.gateway.versions import versioned
from wechat_bridge.gateway.windows import is_stop_word
from wechat_bridge.model.event import UNKNOWN_TYPE, Envelope, Event, EventState, FieldError, JsonObject, Receipt, Status
from wechat_bridge.model.event_rules import EventRules, WindowRule
from wechat_bridge.observe import metrics
from wechat_bridge.observe.logging import logger
from wechat_bridge.store.ledger import patience

log = logger(__name__)

if TYPE_CHECKING:
    from wechat_bridge.gateway.compiled import Compiled

QUICK_SECONDS = 1.0

AWAY = "events cannot be kept right now; send it again"
NOTHING: tuple[object, ...] = (None, "", [], {})
"""What a field holds that says nothing."""

STALE = "a newer version of its subject was taken before"


@dataclass(frozen=True)
class Valid:
    """An event that may be taken."""

    envelope: Envelope
    payload: JsonObject
    dedup_name: str

    @property
    def event_type(self) -> str:
        """Its type, which is one of the rules'."""
        return self.envelope.event_type


MaySend = Callable[[str], bool]
"""Whether whoever sent an event may send one of this type."""


def _anybody(_: str) -> bool:
    return True


def ingest(gateway: Gateway, incoming: Incoming) -> Receipt:
    """Take one event."""
    return ingest_many(gateway, [incoming])[0]


def ingest_many(gateway: Gateway, incoming: Sequence[Incoming], may_send: MaySend = _anybody) -> list[Receipt]:
    """Take events; return what became of each, in order. One that is refused changes nothing for the others."""
    rules, now = gateway.compiled(), gateway.clock.now()
    receipts: dict[int, Receipt] = {}
    valid: dict[int, Valid] = {}
    for number, each in enumerate(incoming):
        envelope = envelope_of(each, now)
        said(envelope, "received", "ok", source=each.source.value, bytes=len(each.raw))
        found = _read(rules, envelope, may_send)
        metrics.event_received(each.source.value, _known_type(rules, found))
        if isinstance(found, Receipt):
            receipts[number] = found
        else:
            valid[number] = found
    taken = _take(gateway, rules.rules, list(valid.values()), now)
    receipts |= dict(zip(valid, taken, strict=True))
    return [receipts[number] for number in range(len(incoming))]


def _known_type(rules: Compiled, found: Valid | Receipt) -> str:
    return found.event_type if found.event_type in rules.rules.types else UNKNOWN_TYPE


def _read(rules: Compiled, envelope: Envelope, may_send: MaySend) -> Valid | Receipt:
    """Parse and validate one event; a receipt says what is wrong with it."""
    name = "parse"
    try:
        with stage(name) as timed:
            parsed = rules.adapters.parse(envelope.raw_payload, envelope.content_type, envelope.event_type)
            envelope = _typed(rules.rules, envelope, parsed)
        said(envelope, name, "ok", timed)
        name = "validate"
        with stage(name) as timed:
            if not may_send(envelope.event_type):
                raise ValidationError("The API key is not good for this event type")
            payload = rules.schemas.validate(envelope.event_type, parsed)
            dedup_name = _dedup_name(rules.rules, envelope.event_type, payload)
        said(envelope, name, "ok", timed)
    except EventRefused as error:
        return _refused(envelope, name, error)
    return Valid(envelope, payload, dedup_name)


def _typed(rules: EventRules, envelope: Envelope, parsed: JsonObject) -> Envelope:
    """Return the envelope with its type: what the source said, or what the payload says. Raises ValidationError."""
    value = find(parsed, rules.type_field)
    inside = value if isinstance(value, str) else ""
    if envelope.event_type and inside and inside != envelope.event_type:
        raise ValidationError("Two event types", [(rules.type_field, f"says otherwise than {envelope.event_type}")])
    return envelope.model_copy(update={"event_type": envelope.event_type or inside})


def _dedup_name(rules: EventRules, event_type: str, payload: JsonObject) -> str:
    """Return what names an event; whether its version can be told is seen here, too. Raises KeyMissing."""
    rule = rules.types[event_type].dedupe
    versioned(rule, payload)
    if rule.by == "fingerprint":
        # The type may stand in the payload or beside it; either way it is the same event.
        rule = rule.model_copy(update={"ignore": (*rule.ignore, rules.type_field)})
    return dedup_key(rule, event_type, payload) or ""


def _refused(envelope: Envelope, name: str, error: EventRefused) -> Receipt:
    metrics.validation_failures_total.labels(name).inc()
    said(envelope, name, "failed", error=str(error))
    errors = error.errors if isinstance(error, ValidationError) else ()
    return Receipt(
        id=envelope.id, status=Status.REJECTED, event_type=envelope.event_type, trace_id=envelope.trace_id,
        stage=name, error=str(error), errors=tuple(FieldError(path=path, message=text) for path, text in errors),
        http_status=error.status,
    )  # fmt: skip


def _take(gateway: Gateway, rules: EventRules, valid: Sequence[Valid], now: datetime) -> list[Receipt]:
    """Claim, keep and commit what is valid; return a receipt for each."""
    if not valid:
        return []
    with stage("deduplication"):
        claims = gateway.dedupe.begin([Wanted(each.dedup_name, rules.types[each.event_type].degrade) for each in valid])
    receipts: dict[int, Receipt] = {}
    fresh: dict[int, Event] = {}
    for number, (each, claim) in enumerate(zip(valid, claims, strict=True)):
        if claim.is_duplicate:
            receipts[number] = _duplicate(each, claim.known_as)
        elif claim.is_refused:
            receipts[number] = _unavailable(each, "deduplication")
        else:
            fresh[number] = _event(gateway, rules, each, now, number)
    held = {number: claims[number] for number in fresh}
    receipts |= _kept(gateway, rules, {number: valid[number] for number in fresh}, fresh, held)
    return [receipts[number] for number in range(len(valid))]


def _kept(
    gateway: Gateway, rules: EventRules, valid: dict[int, Valid], fresh: dict[int, Event], held: dict[int, Claim]
) -> dict[int, Receipt]:
    """Keep events whose claims are held: the ledger says which of them are new."""
    if not fresh:
        return {}
    try:
        with stage("store"):
            stale = {number for number in fresh if _is_stale(gateway, rules, valid[number])}
            events = {number: _skipped(event) if number in stale else event for number, event in fresh.items()}
            added = dict(zip(events, keep(gateway, list(events.values())), strict=True))
    except LedgerUnavailable as error:
        log.warning("events_not_kept", count=len(fresh), error=str(error))
        gateway.dedupe.release(list(held.values()))
        return {number: _unavailable(valid[number], "store") for number in fresh}
    new = [number for number, each in added.items() if each.is_new]
    gateway.dedupe.commit([(held[number], events[number].id, _lifetime_ms(rules, valid[number])) for number in new])
    # Of what the ledger knew, only the ledger knows for how long still.
    gateway.dedupe.release([claim for number, claim in held.items() if number not in new])
    go_on(gateway, [events[number] for number in new])
    return {number: _accepted(events[number]) if each.is_new else _duplicate(valid[number], each.known_id)
            for number, each in added.items()}  # fmt: skip


def _lifetime_ms(rules: EventRules, each: Valid) -> int:
    return rules.types[each.event_type].dedupe.lifetime_seconds * 1000


def _is_stale(gateway: Gateway, rules: EventRules, each: Valid) -> bool:
    """Whether an event is older than one before, and to be ignored. Without the ledger nobody knows: then it is not."""
    try:
        with patience(QUICK_SECONDS):
            return gateway.versions.is_stale(rules.types[each.event_type].dedupe, each.event_type, each.payload)
    except LedgerUnavailable as error:
        log.warning("version_unknown", event_id=each.envelope.id, error=str(error))
        return False


def _skipped(event: Event) -> Event:
    return event.model_copy(update={"state": EventState.SKIPPED, "reason": STALE, "ring_at": None})


def _event(gateway: Gateway, rules: EventRules, valid: Valid, now: datetime, order: int) -> Event:
    envelope, rule = valid.envelope, rules.types[valid.event_type]
    window_key = _window_key(gateway, rules, valid)
    ring_at = now + timedelta(seconds=gateway.ring_again_seconds)
    name = valid.dedup_name
    return Event(
        id=envelope.id, source=envelope.source, event_type=envelope.event_type, content_type=envelope.content_type,
        raw_payload=envelope.raw_payload, payload=valid.payload, headers=envelope.headers, received_at=now,
        validated_at=now, order=order, trace_id=envelope.trace_id, dedup_name=name, dedup_key=name or envelope.id,
        dedup_until=now + timedelta(seconds=rule.dedupe.lifetime_seconds) if name else None,
        window_key=window_key, at_once=_is_at_once(rule.debounce, valid.payload),
        state=EventState.WAITING if window_key else EventState.QUEUED, next_attempt_at=now, ring_at=ring_at,
    )  # fmt: skip


def _window_key(gateway: Gateway, rules: EventRules, valid: Valid) -> str | None:
    """Return under which key an event waits; None where it need not, cannot, or too many keys are waiting."""
    if rules.wait_seconds(valid.event_type) <= 0:
        return None
    try:
        key = render(rules.types[valid.event_type].debounce.key, valid.payload)
    except KeyMissing:
        return None
    try:
        is_full = gateway.windows.count() >= rules.most_windows_open and not gateway.windows.is_open(key)
    except LedgerUnavailable:
        return key
    return None if is_full else key


def _is_at_once(rule: WindowRule, payload: JsonObject) -> bool:
    text = payload.get("text")
    is_command = isinstance(text, str) and text.lstrip().startswith("/")
    return is_command or is_stop_word(rule, payload) or any(find(payload, path) not in NOTHING for path in rule.at_once)


def _accepted(event: Event) -> Receipt:
    is_skipped = event.state is EventState.SKIPPED
    said(event, "store", "skipped" if is_skipped else "accepted")
    status = Status.SKIPPED if is_skipped else Status.ACCEPTED
    return Receipt(
        id=event.id, status=status, event_type=event.event_type, trace_id=event.trace_id, error=event.reason,
        http_status=200 if is_skipped else 202,
    )  # fmt: skip


def _duplicate(each: Valid, known_as: str) -> Receipt:
    metrics.deduplicated_total.labels(each.event_type).inc()
    envelope = each.envelope
    log.info("event", stage="deduplication", action="skipped", dedupKey=each.dedup_name, messageId=envelope.id,
             eventType=envelope.event_type, trace_id=envelope.trace_id)  # fmt: skip
    return Receipt(
        id=envelope.id, status=Status.DUPLICATE, event_type=envelope.event_type, trace_id=envelope.trace_id,
        known_as=known_as, http_status=200,
    )  # fmt: skip


def _unavailable(each: Valid, name: str) -> Receipt:
    envelope = each.envelope
    said(envelope, name, "unavailable")
    return Receipt(
        id=envelope.id, status=Status.UNAVAILABLE, event_type=envelope.event_type, trace_id=envelope.trace_id,
        error=AWAY, http_status=503,
    )  # fmt: skip
