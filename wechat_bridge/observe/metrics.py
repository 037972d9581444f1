"""Counters and histograms of one process, in Prometheus format. No label takes values that people choose freely."""

from __future__ import annotations

from prometheus_client import Counter, Histogram, disable_created_metrics

from wechat_bridge.model.message import InboxRow, type_of

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
alerts_total = Counter("wechat_bridge_alerts_total", "Alerts raised, by cause", ["cause"])
log_lines_dropped_total = Counter(
    "wechat_bridge_log_lines_dropped_total", "Log lines dropped because their stream blocked or was closed"
)


def message_received(row: InboxRow) -> None:
    """Count a message that was new. Its type is the kind of its parts, ``mixed`` or ``empty``."""
    messages_received_total.labels(row.source if row.source in SOURCES else "other", type_of(row.items)).inc()
