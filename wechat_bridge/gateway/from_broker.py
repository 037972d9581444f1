"""Take an event that a broker brought: it is acknowledged once it is durable, or kept as a dead letter."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from wechat_bridge.gateway.context import Gateway
from wechat_bridge.gateway.dead import original
from wechat_bridge.gateway.incoming import Incoming
from wechat_bridge.gateway.ingest import ingest
from wechat_bridge.model.dead_letter import DeadLetter
from wechat_bridge.model.event import EventSource, Receipt, Status
from wechat_bridge.model.event_rules import BrokerQueue

REFUSED_PREFIX = "refused-"
UNSTATED = "application/json"
"""What a message is whose sender says nothing about it."""


class Verdict(Enum):
    """What the broker is told."""

    ACK = "ack"  # it is taken, known already, or kept as a dead letter
    REQUEUE = "requeue"  # it could not be kept; the broker brings it again


def take(
    gateway: Gateway, queue: BrokerQueue, raw: bytes, content_type: str, headers: Mapping[str, str], routing_key: str
) -> Verdict:
    """Take a message of a queue."""
    named = {name: value for name, value in headers.items() if isinstance(value, str)}
    incoming = Incoming(
        EventSource.BROKER, content_type or UNSTATED, raw, {"routing-key": routing_key, **named}, queue.event_type
    )
    receipt = ingest(gateway, incoming)
    if receipt.status is Status.UNAVAILABLE:
        return Verdict.REQUEUE
    if receipt.status is Status.REJECTED and not gateway.keep_letter(_letter(gateway, incoming, receipt)):
        return Verdict.REQUEUE
    return Verdict.ACK


def _letter(gateway: Gateway, incoming: Incoming, receipt: Receipt) -> DeadLetter:
    now = gateway.clock.now()
    faults = "; ".join(f"{fault.path}: {fault.message}" for fault in receipt.errors)
    brought = original(receipt.id, incoming.raw, None) | {
        "content_type": incoming.content_type, "headers": dict(incoming.headers), "event_type": incoming.event_type,
    }  # fmt: skip
    return DeadLetter(
        id=REFUSED_PREFIX + receipt.id,
        share_id="",
        chat_id="",
        stage=receipt.stage,
        event_type=receipt.event_type,
        error_class="EventRefused",
        error=f"{receipt.error} ({faults})" if faults else receipt.error,
        traceback="",
        attempts=1,
        original=[brought],
        trace_id=receipt.trace_id,
        first_failure_at=now,
        last_failure_at=now,
    )
