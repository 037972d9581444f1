"""Counters and histograms of one process, in Prometheus format."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

polls_total = Counter("wechat_bridge_polls_total", "Polls by outcome", ["outcome"])
messages_received_total = Counter("messages_received_total", "Inbound messages that were new", ["source", "type"])
turns_total = Counter("wechat_bridge_turns_total", "Turns closed, by end state", ["state"])
dead_letters_total = Counter("dlq_messages_total", "Turns given up, by stage", ["stage"])
engine_seconds = Histogram(
    "wechat_bridge_engine_seconds",
    "Time of one engine call",
    ["engine"],
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300),
)
alerts_total = Counter("wechat_bridge_alerts_total", "Alerts raised, by cause", ["cause"])
