"""Counters and histograms of one process, in Prometheus format. No label takes values that people choose freely."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

from wechat_bridge.model.message import InboxRow, InboxState, type_of

disable_created_metrics()  # type: ignore[no-untyped-call]  # one more series for each counter, which nobody reads

SOURCES = frozenset({"poll", "callback", "history"})

polls_total = Counter("wechat_bridge_polls_total", "Polls by outcome", ["outcome"])
messages_received_total = Counter("messages_received_total", "Inbound messages that were new", ["source", "type"])
messages_refused_total = Counter(
    "wechat_bridge_messages_refused_total", "Messages of people who may not talk", ["channel", "reason"]
)
callbacks_total = Counter("wechat_bridge_callbacks_total", "Calls of platforms that push, by outcome", ["outcome"])
turns_total = Counter("wechat_bridge_turns_total", "Turns closed, by end state", ["state"])
dead_letters_total = Counter("dlq_messages_total", "Turns given up, by stage", ["stage"])
sends_without_id_total = Counter(
    "wechat_bridge_sends_without_id_total", "Sends that WeChat accepted without giving an id"
)
engine_seconds = Histogram(
    "wechat_bridge_engine_seconds",
    "Time of one engine call",
    ["engine"],
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300),
)
stage_seconds = Histogram(
    "message_processing_duration_seconds",
    "Time of one stage of processing",
    ["stage"],
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
validation_failures_total = Counter(
    "message_validation_failures_total", "Events that were refused, by stage", ["stage"]
)
deduplicated_total = Counter("message_deduplicated_total", "Messages known before, by type", ["event_type"])
debounced_total = Counter("debounced_messages_total", "Messages that went on as part of another one")
windows_forced_total = Counter(
    "wechat_bridge_windows_forced_total", "Debounce windows that were open for too long and made to go on"
)
gateway_breaker_open = Gauge(
    "wechat_bridge_gateway_breaker_open", "Whether events leave Redis alone for a while because it did not answer"
)
gateway_unguarded_total = Counter(
    "wechat_bridge_gateway_unguarded_total", "Events that met no Redis, by what their type makes of it", ["outcome"]
)
gateway_claims_left_total = Counter(
    "wechat_bridge_gateway_claims_left_total", "Claims of events that Redis could not be told the end of"
)
alerts_total = Counter("wechat_bridge_alerts_total", "Alerts raised, by cause", ["cause"])
log_lines_dropped_total = Counter(
    "wechat_bridge_log_lines_dropped_total", "Log lines dropped because their stream blocked or was closed"
)


def event_received(source: str, event_type: str) -> None:
    """Count an event; ``event_type`` is one of the rules', or unknown."""
    messages_received_total.labels(source, event_type).inc()


def message_received(row: InboxRow) -> None:
    """Count a message that was new. Its type is the kind of its parts, ``mixed`` or ``empty``."""
    messages_received_total.labels(row.source if row.source in SOURCES else "other", type_of(row.items)).inc()
    if row.state is InboxState.FAILED:
        validation_failures_total.labels("parse").inc()


def message_repeated(row: InboxRow) -> None:
    """Count a message that was stored before."""
    deduplicated_total.labels(type_of(row.items)).inc()
