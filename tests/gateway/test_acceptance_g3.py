"""`/metrics` has exactly the promised names and labels, for channels and events alike (acceptance G3)."""

from __future__ import annotations

from prometheus_client import generate_latest

from tests.gateway.desk import Desk
from tests.support.world import World
from wechat_bridge.observe import metrics

NAMES = {
    "messages_received_total": {"source", "type"},
    "message_processing_duration_seconds": {"stage"},
    "message_validation_failures_total": {"stage"},
    "message_deduplicated_total": {"event_type"},
    "debounced_messages_total": set(),
    "dlq_messages_total": {"stage"},
}


def test_g3_the_names_and_labels_are_as_promised() -> None:
    made = [
        metrics.messages_received_total, metrics.stage_seconds, metrics.validation_failures_total,
        metrics.deduplicated_total, metrics.debounced_total, metrics.dead_letters_total,
    ]  # fmt: skip
    shown = generate_latest().decode()
    assert all(f"# TYPE {name} " in shown for name in NAMES)
    assert [set(metric._labelnames) for metric in made] == list(NAMES.values())


def count(stage: str) -> float:
    """How often a stage was timed."""
    return float(metrics.stage_seconds.labels(stage)._sum.get())


def test_g3_stages_of_events_and_of_channels_are_timed(desk: Desk, world: World) -> None:
    stages = ("parse", "validate", "deduplication", "store", "dispatch", "engine", "deliver")
    before = {stage: count(stage) for stage in stages}
    desk.dispatch(desk.send("once", n=1))
    world.receive(world.text("hello"))
    world.make_due()
    turn = world.flush()
    assert turn is not None
    world.answer(turn)
    assert all(count(stage) > before[stage] for stage in stages)
