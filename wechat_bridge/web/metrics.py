"""``/metrics``: this process's counters, and what ledger and broker say at the moment of the scrape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fastapi import APIRouter, Request, Response
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from wechat_bridge.flow.health.callback_checks import last_callback_ages_seconds
from wechat_bridge.flow.health.channel_checks import oldest_poll_age_seconds
from wechat_bridge.flow.health.readings import BrokerReading, LedgerReading, Readings
from wechat_bridge.flow.roles import KINDS, kinds_of
from wechat_bridge.model.channel import ChannelStatus, StatusReason
from wechat_bridge.model.turn import TurnState
from wechat_bridge.settings import Settings
from wechat_bridge.web.shared import SharedReadings

router = APIRouter()

TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"
CHANNEL_STATES = (
    "online",
    "disabled",
    *(reason.value for reason in (StatusReason.FAILURES, StatusReason.LOGIN_NEEDED)),
)


@router.get("/metrics")
async def scrape(request: Request) -> Response:
    """Answer a scrape; when a service is away, with what is known and its ``up`` gauge at 0."""
    shared: SharedReadings = request.app.state.readings
    registry = CollectorRegistry(auto_describe=False)
    registry.register(ReadingsCollector(await shared.get(), shared.bridge.settings))
    return Response(generate_latest(REGISTRY) + generate_latest(registry), media_type=TEXT_FORMAT)


class ReadingsCollector(Collector):
    """Gauges of one reading. Labels are queues, kinds and states, a channel only where somebody has to act on that very
    one, and never people."""

    def __init__(self, readings: Readings, settings: Settings) -> None:
        self._readings = readings
        self._settings = settings

    def collect(self) -> Iterable[Metric]:
        """Return what is known; nothing is made up for a service that is away."""
        ledger, broker = self._readings.ledger, self._readings.broker
        yield _gauge("ledger_up", "Whether MongoDB answers", float(ledger is not None))
        yield _gauge("broker_up", "Whether Redis answers", float(broker is not None))
        if ledger is not None:
            yield from _of_processes(ledger)
            yield from _of_channels(ledger, self._settings)
            yield from _of_work(ledger)
        if broker is not None:
            yield from _of_broker(broker)


def _of_processes(ledger: LedgerReading) -> Iterator[Metric]:
    processes, slots = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
    for worker in ledger.workers:
        for kind in kinds_of(worker):
            processes[kind] += 1
            slots[kind] += worker.slots
    yield _gauges("workers", "Living processes by kind", "kind", processes)
    yield _gauges("worker_slots", "Task threads of living processes by kind", "kind", slots)


def _of_channels(ledger: LedgerReading, settings: Settings) -> Iterator[Metric]:
    states = dict.fromkeys(CHANNEL_STATES, 0)
    for channel in ledger.channels:
        if not channel.enabled:
            states["disabled"] += 1
        elif channel.status is ChannelStatus.ONLINE:
            states["online"] += 1
        elif channel.status_reason.value in states:
            states[channel.status_reason.value] += 1
    yield _gauges("channels", "Channels that have been logged in, by status", "status", states)
    age = oldest_poll_age_seconds(ledger, settings)
    yield _gauge("oldest_poll_age_seconds", "Time since the poll of the online channel that waits longest", age)
    ages = last_callback_ages_seconds(ledger)
    yield _gauges("last_callback_age_seconds", "Time since WeCom called, by channel, to half a minute", "channel", ages)


def _of_work(ledger: LedgerReading) -> Iterator[Metric]:
    open_turns = {state.value: ledger.turns.get(state.value, 0) for state in TurnState}
    open_turns[TurnState.PARKED.value] = sum(ledger.parked.values())
    dead_letters = [time for times in ledger.dead_letters.values() for time in times]
    late, due = ledger.age_seconds(ledger.due_conversations), ledger.age_seconds(ledger.due_turns)
    yield _gauge("waiting_messages", "Inbound messages that wait for their turn", ledger.waiting_messages)
    yield _gauge("oldest_due_conversation_age_seconds", "How long messages should have been a turn", late)
    yield _gauges("open_turns", "Open turns by state", "state", open_turns)
    yield _gauge("oldest_due_turn_age_seconds", "How long the oldest due turn has waited for a worker", due)
    yield _gauge("dead_letters", "Dead letters that wait for a person", len(dead_letters))
    codes = ledger.pairing_codes
    yield _gauges("pairing_codes_waiting", "Strangers with a pairing code, by channel under pairing", "channel", codes)
    yield _gauge("oldest_dead_letter_age_seconds", "Age of the oldest of them", ledger.age_seconds(dead_letters))


def _of_broker(broker: BrokerReading) -> Iterator[Metric]:
    yield _gauges("queue_length", "Doorbells that wait, by queue", "queue", broker.queues)
    yield _gauge("spilled_channels", "Channels whose messages wait outside the ledger", len(broker.spilled))
    down = {gate.engine: float(gate.is_open) for gate in broker.gates}
    waiting = {gate.engine: gate.waiting for gate in broker.gates}
    yield _gauges("engine_open", "Whether an engine fails and is left alone for a while", "engine", down)
    yield _gauges("engine_waiting", "Turns that wait for an engine", "engine", waiting)


def _gauge(name: str, documentation: str, value: float) -> Metric:
    return GaugeMetricFamily(f"wechat_bridge_{name}", documentation, value=value)


def _gauges(name: str, documentation: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(f"wechat_bridge_{name}", documentation, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family
