"""Is there a living process for everything, and does the work go on?"""

from __future__ import annotations

from wechat_bridge.flow.health.check import Check, listed
from wechat_bridge.flow.health.readings import BrokerReading, LedgerReading
from wechat_bridge.flow.roles import POLL_QUEUE, ROLES, kinds_of
from wechat_bridge.model.worker import Worker
from wechat_bridge.settings import Settings
from wechat_bridge.store.engine_gates import GateState

LATE_SECONDS = 60.0
"""Work that has been due for so long is not being done: doorbells take milliseconds, a lost one 15 s."""

LAPSED_SECONDS = 30.0
"""The sweep takes over within 5 s of the end of a lease."""

MOST_MAINTENANCE = 40
"""Beat rings some thirty times a minute; more than this wait only when nobody takes them."""


def of_processes(ledger: LedgerReading) -> list[Check]:
    """Judge whether each kind of process is alive and each queue has a reader."""
    return [*(_role(ledger, kind) for kind in ROLES), _beat(ledger)]


def of_work(ledger: LedgerReading) -> list[Check]:
    """Judge whether waiting messages become turns and turns become answers, and show what waits for a person."""
    return [_messages(ledger), _turns(ledger), _parked(ledger), _pairing(ledger), _dead_letters(ledger)]


def of_queues(broker: BrokerReading, ledger: LedgerReading | None, settings: Settings) -> list[Check]:
    """Judge the lengths of the queues, and whether messages wait outside the ledger."""
    channels = len(ledger.polled_channels) if ledger is not None else 0
    return [_queues(broker, channels, settings), _spill(broker)]


def of_engines(broker: BrokerReading) -> list[Check]:
    """Tell which engines do not answer, or answer fewer than ask; all others go on."""
    return [_engine(gate) for gate in broker.gates if gate.is_shut or gate.waiting]


def _engine(gate: GateState) -> Check:
    wait = f"{gate.waiting} turns wait"
    if gate.open_since is not None:
        since = f"{gate.open_since:%Y-%m-%d %H:%M:%S} UTC"
        detail = f"does not answer since {since}, {wait} and are answered when it is back; last error: {gate.reason}"
    elif 0 < gate.limit <= gate.in_use:
        detail = f"answers {gate.in_use} at once, as many as it may (max_concurrency), {wait}"
    else:
        detail = f"answers, {wait} and are let in one after the other"
    is_ok = gate.open_since is None and not gate.waiting
    return Check(name=f"engine_{gate.engine}", ok=is_ok, detail=f"{gate.engine} {detail}", warning=True)


def _role(ledger: LedgerReading, kind: str) -> Check:
    workers = [worker for worker in ledger.workers if kind in kinds_of(worker)]
    unread = set(ROLES[kind]) - {queue for worker in workers for queue in worker.queues}
    if unread:
        detail = f"no living worker reads {', '.join(sorted(unread))}: start the process {kind} of the Procfile"
        return Check(name=f"{kind}_workers", ok=False, detail=detail)
    return Check(name=f"{kind}_workers", ok=True, detail=_counted(workers))


def _counted(workers: list[Worker]) -> str:
    return f"{len(workers)} alive, {sum(worker.slots for worker in workers)} threads"


def _beat(ledger: LedgerReading) -> Check:
    alive = sum(worker.kind == "beat" for worker in ledger.workers)
    detail = (
        f"{alive} alive" if alive else "nobody seeds poll chains and sweeps: start the process beat of the Procfile"
    )
    return Check(name="beat", ok=alive > 0, detail=detail)


def _messages(ledger: LedgerReading) -> Check:
    late = ledger.age_seconds(ledger.due_conversations)
    ok = late <= LATE_SECONDS
    advice = "" if ok else f", due for {late:.0f} s: look at the reply worker (queue inbox)"
    return Check(name="messages", ok=ok, detail=f"{ledger.waiting_messages} wait for their turn{advice}")


def _turns(ledger: LedgerReading) -> Check:
    late, lapsed = ledger.age_seconds(ledger.due_turns), ledger.age_seconds(ledger.lapsed_turns)
    detail = f"{sum(ledger.turns.values())} in work, {len(ledger.due_turns)} due"
    if lapsed > LAPSED_SECONDS:
        advice = f"{len(ledger.lapsed_turns)} are held by a lost worker for {lapsed:.0f} s: look at beat and ops"
        return Check(name="turns", ok=False, detail=f"{detail}; {advice}")
    if late > LATE_SECONDS:
        advice = f"the oldest for {late:.0f} s: look at the reply worker, or add one"
        return Check(name="turns", ok=False, detail=f"{detail}, {advice}")
    return Check(name="turns", ok=True, detail=detail)


def _parked(ledger: LedgerReading) -> Check:
    reasons = [f"{count} because of {reason}" for reason, count in sorted(ledger.parked.items())]
    waits = "its person writes again, the channel is logged in, or its app works again"
    detail = f"{listed(reasons)}; each goes out when {waits}"
    return Check(name="parked", ok=True, detail=detail if reasons else "no reply waits for a person")


def _pairing(ledger: LedgerReading) -> Check:
    """Who waits to be let in is no fault, and gets no answer until somebody looks."""
    codes = [f"{share_id}: {count}" for share_id, count in sorted(ledger.pairing_codes.items()) if count]
    detail = f"strangers wait with a code, {listed(codes)}. See who: wechat-bridge access list SHARE_ID"
    return Check(name="pairing", ok=True, detail=detail if codes else "nobody waits to be let in")


def _dead_letters(ledger: LedgerReading) -> Check:
    lines = [
        f"{share_id}: {len(times)}, the oldest {ledger.age_seconds(times) / 3600:.1f} h"
        for share_id, times in sorted(ledger.dead_letters.items())
    ]
    detail = f"{listed(lines)}. Look into them: wechat-bridge dead list" if lines else "none"
    return Check(name="dead_letters", ok=not lines, detail=detail, warning=True)


def _queues(broker: BrokerReading, channels: int, settings: Settings) -> Check:
    """A queue that only grows has no reader, whatever its workers' heartbeats say."""
    ceiling = settings.sweep.ceiling
    most = {"maintenance": MOST_MAINTENANCE, POLL_QUEUE: max(ceiling, channels)}
    full = [f"{queue} {length}" for queue, length in broker.queues.items() if length > most.get(queue, ceiling)]
    lengths = ", ".join(f"{queue} {length}" for queue, length in broker.queues.items() if length) or "all empty"
    detail = f"too long: {listed(full)}. Restart the worker that reads it, or add one" if full else lengths
    return Check(name="queues", ok=not full, detail=detail)


def _spill(broker: BrokerReading) -> Check:
    waiting = [f"messages of {listed(broker.spilled)}"] if broker.spilled else []
    waiting += [f"{broker.spilled_letters} dead letters"] if broker.spilled_letters else []
    detail = f"{' and '.join(waiting)} wait in Redis; the sweep stores them: look at MongoDB, beat and ops"
    return Check(name="spill", ok=not waiting, detail=detail if waiting else "empty")
